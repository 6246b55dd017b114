/** Answers to what is no HTTP request, or not in time: Node gives up on the connection, and says so only with a status line. */
import { randomUUID } from 'node:crypto';
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { AppError, ERRORS, type ErrorCode } from '../../lib/errors.ts';
import { PROBLEM_TYPE, toProblem } from './problem.ts';

const CODES: Readonly<Record<string, ErrorCode>> = {
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  HPE_HEADER_OVERFLOW: 'headers_too_large',
};

/** For `clientErrorHandler`; it must be told of the server before that listens. */
export function createClientErrors() {
  const last = new WeakMap<Socket, ServerResponse>();
  return {
    watch: (server: Server): void => {
      server.on('request', ({ socket }, response) => last.set(socket, response));
    },

    answer(error: NodeJS.ErrnoException, socket: Socket): void {
      // Where an answer to an earlier request is still owed, this one would be taken for it.
      if (error.code === 'ECONNRESET' || !socket.writable || owes(socket, last.get(socket))) socket.destroy();
      else {
        socket.write(answerTo(CODES[error.code ?? ''] ?? 'malformed_request'));
        socket.destroySoon();
      }
    },
  };
}

/** `response` is to the last request. One that is not complete is what the error is about, if it is its turn. */
const owes = (socket: Socket, response: ServerResponse | undefined): boolean =>
  response !== undefined &&
  !response.writableEnded &&
  (response.req.complete || response.headersSent || response.socket !== socket);

function answerTo(code: ErrorCode): string {
  const body = JSON.stringify(toProblem(new AppError(code, ERRORS[code].meaning)));
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
