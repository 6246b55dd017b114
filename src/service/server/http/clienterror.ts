/** Responds to invalid or slow HTTP requests. Node alone would close the connection with a bare status line. */
import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { PROBLEM_TYPE, toProblem } from './problem.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** Provides `clientErrorHandler`; it must see the server before that listens. */
export function createClientErrors() {
  const last = new WeakMap<Socket, ServerResponse>();
  return {
    watch: (server: Server): void => {
      server.on('request', ({ socket }, response) => last.set(socket, response));
    },

    answer(error: NodeJS.ErrnoException, socket: Socket): void {
      // With an earlier response still due, the client would take this one for it.
      if (error.code === 'ECONNRESET' || !socket.writable || owes(socket, last.get(socket))) socket.destroy();
      else {
        socket.write(answerTo(CODES[error.code ?? ''] ?? 'malformed_request'));
        socket.destroySoon();
      }
    },
  };
}

/** `response` belongs to the last request. If it is incomplete, the error may concern that request. */
const owes = (socket: Socket, response: ServerResponse | undefined): boolean =>
  response !== undefined &&
  !response.writableEnded &&
  (response.req.complete || response.headersSent || response.socket !== socket);

function answerTo(code: ErrorCode): string {
  const body = JSON.stringify(toProblem(new AppError(code)));
  const { status } = ERRORS[code];
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `Content-Type: ${PROBLEM_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${randomUUID()}`,
    'Connection: close',
    `\r\n${body}`,
  ].join('\r\n');
}
