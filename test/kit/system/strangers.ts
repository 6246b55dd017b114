/**
 * Makes strangers for the attack tests: ordinary accounts of the shared local system (share-system.ts), without privileges. None has ever
 * had credit.
 */
import type { Client } from '../../../src/service/client/index.ts';
import { shareSystem } from './share-system.ts';
import type { Shared } from './system.ts';

/** Any answer of the API: attacks examine refusals. `body` is undefined for an empty one. */
export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read whichever field they are about.
  body: any;
}

export interface Stranger extends Shared {
  client: Client;
  /** Sends a request below `apiUrl`, e.g. `call('GET', '/me')`, with the account's key, without retries. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
}

async function makeStranger(): Promise<Stranger> {
  const { facts, stateDir, client } = await shareSystem({ credit: false });
  const call = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const response = await fetch(facts.apiUrl + path, {
      method,
      headers: { 'x-api-key': facts.apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };
  return { facts, stateDir, client, call };
}

/** Makes three accounts of one system: two that attack, and one (`victim`) that only wants to be on air. */
export async function makeStrangers(): Promise<{ mallory: Stranger; accomplice: Stranger; victim: Stranger }> {
  const [mallory, accomplice, victim] = await Promise.all([makeStranger(), makeStranger(), makeStranger()]);
  return { mallory, accomplice, victim };
}
