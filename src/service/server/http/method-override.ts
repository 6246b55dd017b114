/**
 * Applies `X-HTTP-Method-Override` of tus 1.0.0, for clients and proxies that cannot send PATCH or DELETE. It changes the request
 * before routing, so that scopes, limits and the cross-site guard see the real method.
 */
import type { IncomingMessage } from 'node:http';

/** Paths of tus only. */
const PATH = /^\/v1\/uploads\/resumable(\/|\?|$)/;
const METHODS = /^(POST|PATCH|DELETE|HEAD|OPTIONS)$/;
/** A browser's preflight only announces the override, so OPTIONS stays as it is. */
const REPLACEABLE = /^(GET|POST|PUT|PATCH|DELETE)$/;

export function overrideMethod(request: IncomingMessage): void {
  const wanted = String(request.headers['x-http-method-override'] ?? '')
    .trim()
    .toUpperCase();
  if (!METHODS.test(wanted) || !REPLACEABLE.test(request.method ?? '') || !PATH.test(request.url ?? '')) return;
  request.method = wanted;
}
