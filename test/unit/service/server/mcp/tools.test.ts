/** Tests the tools' descriptions for clients, against the table of scopes, the API and the table of errors. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import type { ErrorCode } from '../../../../../src/service/lib/errors.ts';
import { PROBLEM_TYPE } from '../../../../../src/service/server/http/problem.ts';
import { nextStep } from '../../../../../src/service/server/mcp/advice.ts';
import { PROMPT_OPERATIONS, PROMPTS } from '../../../../../src/service/server/mcp/prompts.ts';
import { tool } from '../../../../../src/service/server/mcp/tool.ts';
import { describedTools } from '../../../../../src/service/server/mcp/tools.ts';
import { describeApi } from '../../../../../src/service/server/openapi/describe.ts';
import { resolveResponse } from '../../../../../src/service/server/openapi/openapi.ts';
import type { Operation } from '../../../../../src/service/server/operations/list.ts';
import { isReading, OPERATION_SCOPES } from '../../../../../src/service/server/operations/scopes.ts';
import { withTools } from '../../../../../tools/generate/agents.ts';

const tools = [...describedTools().values()];
const description = await describeApi();
const served = Object.values(description.paths).flatMap((item) =>
  Object.entries(item).map(([method, operation]) => ({ method, operation })),
);
const findRoute = (id: Operation) => served.find(({ operation }) => operation.operationId === id);

/** These take or return bytes, or hold a connection: no agent could use them. */
const NOT_FOR_AGENTS: Operation[] = [
  ...(['createResumableUpload', 'getResumableUpload', 'appendToResumableUpload', 'cancelResumableUpload'] as const),
  'getStreamPreview',
  'getUploadPreview',
  'getUploadPoster',
  'getInvoicePdf',
  'exportStreamTimeline',
  'exportStreamAsRun',
  // An agent adds up what it has read.
  'getStreamAsRunTotals',
  // The timeline begins with it.
  'getStreamNow',
  // Its owner decides on a page what is public.
  'getStreamPublicNow',
  'updateStreamPublicNow',
  // An agent imports link after link: the list of tools has no room for another form of it.
  'createUploadsFromLinks',
  // Secrets do not belong in conversations.
  'getEndpointSecret',
  'rotateEndpointSecret',
  // The list shows all of it, and recover_endpoint sends again.
  'getEndpoint',
  'replayDelivery',
];
const NAMES_A_TOOL =
  /\b(get|list|create|update|delete|start|stop|test|diagnose|change|publish|schedule|skip|rollback|diff|watch|verify|recover)_[a-z_]+\b/g;
const isOfNouns = (id: string) =>
  /(Stream|Upload|Playlist|Scene|Destination|Me$|Limits|TopUp|Billing|Prices|Usage|Ledger|Crypto|Invoice|BillingAddress|Endpoint|Delivery|watchEvents)/.test(
    id,
  ) && OPERATION_SCOPES[id as Operation] !== null;

describe('every operation', () => {
  test('that an agent needs has one tool of its own', () => {
    const alone = tools.filter(({ operations }) => operations.length === 1).flatMap(({ operations }) => operations);
    const wanted = Object.keys(OPERATION_SCOPES).filter(isOfNouns);
    expect([...alone, ...NOT_FOR_AGENTS].sort()).toEqual(wanted.sort());
  });

  test('of a tool and a prompt is in the table; without one no tool can be made', () => {
    for (const { operations } of tools) for (const id of operations) expect(OPERATION_SCOPES).toHaveProperty(id);
    expect([...PROMPT_OPERATIONS.keys()]).toEqual(PROMPTS.map(({ name }) => name));
    const make = (operation: string) =>
      tool({
        name: 'x',
        title: 'X',
        description: 'X',
        output: Type.Object({}),
        operations: [operation as Operation],
        summarize: () => '',
        run: () => ({}),
      });
    expect(make('getStream').name).toBe('x');
    for (const operation of ['nothing', 'getStatus', 'toString']) expect(() => make(operation)).toThrow(operation);
  });
});

describe.each(tools.map((one) => [one.name, one] as const))('%s', (name, { operations, keyed, listed }) => {
  const scopes = operations.map((id) => OPERATION_SCOPES[id]);
  const reads = operations.every(isReading);

  test('has the name of its operation, and a description', () => {
    expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
    const camel = name.replace(/_(.)/g, (_all, letter: string) => letter.toUpperCase());
    if (operations.length === 1) expect(camel).toBe(operations[0]);
    expect(listed.annotations?.title).toMatch(/^[A-Z][^.]+$/);
    expect(listed.description).toMatch(/^[A-Z].+\.$/s);
    // Every tool that a text names exists.
    for (const [named] of JSON.stringify([listed.description, listed.inputSchema]).matchAll(NAMES_A_TOOL))
      expect(describedTools().has(named), named).toBe(true);
  });

  test('has hints that follow from its scopes', () => {
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = listed.annotations ?? {};
    expect(readOnlyHint).toBe(reads);
    if (reads) expect({ destructiveHint, idempotentHint }).toEqual({ destructiveHint: false, idempotentHint: true });
    if (scopes.includes('destructive')) expect(destructiveHint).toBe(true);
    const reachesOut = [
      'create_endpoint',
      'update_endpoint',
      'verify_endpoint',
      'test_endpoint',
      'recover_endpoint',
      'create_upload_from_link',
      'retry_upload',
      'test_destination',
      'start_stream',
      'create_top_up',
    ];
    expect(openWorldHint).toBe(reachesOut.includes(name));
    if (/^(create|skip|rollback|test)_/.test(name)) expect(idempotentHint).toBe(false);
    if (/^(create|get|list|test)_/.test(name)) expect(destructiveHint).toBe(false);
    if (/^(stop|unschedule|delete)_/.test(name)) expect(destructiveHint).toBe(true);
  });

  test('takes an idempotencyKey where its operation is a POST', () => {
    const isPost = operations.every((id) => findRoute(id)?.method === 'post');
    expect(keyed).toBe(isPost);
    expect('idempotencyKey' in (listed.inputSchema.properties ?? {})).toBe(isPost);
  });

  test('has schemas that clients can use, and accepts the API’s input', () => {
    expect(listed.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(listed.outputSchema).toMatchObject({ type: 'object' });
    const [id] = operations;
    const { operation } = (id && findRoute(id)) || {};
    if (operations.length > 1 || !operation) return;
    const { $ref = '' } = operation.requestBody?.content['application/json']?.schema ?? {};
    const body = description.components.schemas[String($ref).replace('#/components/schemas/', '')];
    const parameters = (operation.parameters ?? []).filter((one) => one.in !== 'header').map((one) => one.name);
    const mine = Object.keys(listed.inputSchema.properties ?? {}).filter((one) => one !== 'idempotencyKey');
    const theirs = [...parameters, ...Object.keys(body?.properties ?? {})];
    // A tool may wait where REST does not, and returns JSON alone.
    const same = (names: string[]) => new Set(names.filter((one) => one !== 'wait' && one !== 'format'));
    expect(same(mine)).toEqual(same(theirs));
  });

  test('has a next step for each error of its operations, with existing tools', () => {
    const codes = operations.flatMap((id) =>
      Object.values(findRoute(id)?.operation.responses ?? {}).flatMap((response) =>
        Object.keys(resolveResponse(description, response).content?.[PROBLEM_TYPE]?.examples ?? {}),
      ),
    ) as ErrorCode[];
    // Errors of the connection, before the tool is known.
    const ofHttp = /^(unauthenticated|rate_limited|malformed_|request_timeout|headers_|payload_|unsupported_|route_)/;
    const own = codes.filter((code) => !ofHttp.test(code));
    expect(own).toContain('internal');
    for (const code of own) {
      const step = nextStep(code);
      expect(step, code).not.toMatch(/\b(GET|POST|PATCH|DELETE)\b|Retry-After|X-|\/v1/);
      for (const [, named = ''] of step.matchAll(/`([a-z]+_[a-z_]+)`/g))
        expect(describedTools().has(named), `${code}: ${named}`).toBe(true);
    }
  });
});

test('docs/agents.md shows the tools as they are (mend with `make generate`)', () => {
  const document = readFileSync(join(import.meta.dirname, '../../../../../docs/agents.md'), 'utf8');
  expect(document).toBe(withTools(document));
  for (const { name } of tools) expect(document).toContain(`\`${name}\``);
});
