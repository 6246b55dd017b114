/** Advises agents on errors: the fix of the code, with tools in place of requests. Pure: no I/O, no clock. */
import { ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { OPERATIONS } from '../operations/list.ts';
import { toolName } from './adapter.ts';

/** By the request that it makes: `GET /v1/streams` → `list_streams`. */
const TOOLS = new Map(
  OPERATIONS.flatMap(({ id, http, mcp }) => (mcp ? [[http.replace(' ', ' /v1'), toolName(id)]] : [])),
);

/** Agents see no headers: the text of the error has what matters of them, and an argument of the tool is the key of a request. */
export const nextStep = (code: ErrorCode): string =>
  ERRORS[code].fix
    .replaceAll(/`([^`]+)`/g, (whole, request: string) => (TOOLS.has(request) ? `\`${TOOLS.get(request)}\`` : whole))
    .replaceAll(/ \(header `[^`]*`\)/g, '')
    .replaceAll('`Idempotency-Key`', '`idempotencyKey`')
    .replaceAll('`Retry-After` seconds', 'some seconds');
