/**
 * The method of a request from a client or proxy that cannot send PATCH or DELETE: tus 1.0.0 has `X-HTTP-Method-Override` stand
 * for it. The request is changed before it is routed, so that scopes, limits and the guard against other sites see what it does.
 */
import type { IncomingMessage } from 'node:http';

/** Only what is sent by tus. */
const PATH = /^\/v1\/uploads\/resumable(\/|\?|$)/;
const METHODS = /^(POST|PATCH|DELETE|HEAD|OPTIONS)$/;
/** A browser's preflight tells what will be overridden, and is answered as it is. */
const REPLACEABLE = /^(GET|POST|PUT|PATCH|DELETE)$/;

export function overrideMethod(request: IncomingMessage): void {
  const wanted = String(request.headers['x-http-method-override'] ?? '')
    .trim()
    .toUpperCase();
  if (!METHODS.test(wanted) || !REPLACEABLE.test(request.method ?? '') || !PATH.test(request.url ?? '')) return;
  request.method = wanted;
}
