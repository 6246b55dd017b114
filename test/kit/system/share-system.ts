/** Shares the running system with test files that need none of their own. */
import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inject } from 'vitest';
import { putOnAir } from '../../../tools/local/demo.ts';
import { addAccount } from './add-account.ts';
import { ROOT, type Shared, type System } from './system.ts';

/** The system outlives its users. */
export type SharedSystem = Pick<System, keyof Shared | 'client'>;

/**
 * Returns the system that files share (shared-system.ts), with a new account: the facts have its key, email address and password. Without
 * `credit` the account has never had any.
 */
export async function shareSystem({ credit = true } = {}): Promise<SharedSystem> {
  const shared = inject('system');
  const { facts, stateDir } = shared;
  const { client, ...account } = await addAccount(shared, { credit });
  const own = { ...facts, ...account, pageUrl: new URL(`#key=${account.apiKey}`, facts.pageUrl).href };
  return { facts: own, stateDir, client };
}

/** Returns the same, with that account's demo on air until `close`. */
export async function shareSystemOnAir(): Promise<SharedSystem & { close(): Promise<void> }> {
  const system = await shareSystem();
  const { facts, client } = system;
  const server = createServer((_request, response) => {
    createReadStream(join(ROOT, 'tools/local/demo/bigbuckbunny.mp4')).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const mediaUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bigbuckbunny.mp4`;
  const { apiUrl, apiKey, rtmpUrl } = facts;
  const wish = { apiUrl, apiKey, mediaUrl, name: 'Big Buck Bunny', rtmpUrl, rtmpKey: randomBytes(9).toString('hex') };
  try {
    const id = await putOnAir(wish, { detail: () => {}, signal: AbortSignal.timeout(300_000) });
    const close = () => client.streams.delete(id);
    return { ...system, facts: { ...facts, demoStreamId: id }, close };
  } finally {
    server.close();
  }
}
