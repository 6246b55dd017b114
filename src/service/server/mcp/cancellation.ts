/**
 * Cancels calls in the older revision of the protocol (2025-11-25, Cancellation): the client sends a message with the id of its
 * request. Without sessions, two clients of one user may use the same id; neither is then cancelled. A message that comes too late,
 * or to another replica, does no harm: waits end by themselves. In the newer revision the client just disconnects. Pure: no I/O, no
 * clock.
 */
import type { Principal } from '../../lib/scopes.ts';

interface Message {
  method?: unknown;
  id?: unknown;
  params?: { requestId?: unknown };
}

export function createCancellations() {
  const atWork = new Map<string, Set<AbortController>>();
  const buildKey = ({ accountId, userId }: Principal, id: unknown) => JSON.stringify([accountId, userId, id]);
  return {
    /** Registers a call until `gone` aborts, which happens at the end of each; or cancels the call that the message names. */
    heed(principal: Principal, body: unknown, gone: AbortController): void {
      const { method, id, params } = (body ?? {}) as Message;
      if (method === 'notifications/cancelled') {
        const [only, ...others] = atWork.get(buildKey(principal, params?.requestId)) ?? [];
        if (others.length === 0) only?.abort();
      } else if (method === 'tools/call') {
        const key = buildKey(principal, id);
        const same = atWork.get(key) ?? new Set();
        atWork.set(key, same.add(gone));
        gone.signal.addEventListener('abort', () => {
          same.delete(gone);
          if (same.size === 0 && atWork.get(key) === same) atWork.delete(key);
        });
      }
    },
  };
}
