/** Generates load from a process of its own: as many requests as are answered (autocannon), or one after the other, timed. */

import { setTimeout } from 'node:timers/promises';
import autocannon from 'autocannon';
import { Agent, Client } from 'undici';
import { serve } from './worker.ts';

export interface Target {
  url: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}

export interface Rate {
  perSecond: number;
  p99Ms: number;
}

/** Loads one or several targets in turn, over `connections` at once; throws when an answer is not 2xx. */
async function rate(targets: Target[], seconds: number, connections = 10): Promise<Rate> {
  const [first] = targets;
  if (!first) throw new Error('there is nothing to ask for');
  const { origin } = new URL(first.url);
  const requests = targets.map(({ url, method = 'GET', headers = {}, body }) => ({
    method,
    headers,
    path: url.slice(origin.length),
    ...(body === undefined ? {} : { body }),
  }));
  const result = await autocannon({ url: origin, connections, duration: seconds, requests });
  const { errors, non2xx } = result;
  if (errors + non2xx > 0) throw new Error(`${first.url}: ${errors} errors, ${non2xx} answers that are not 2xx`);
  return { perSecond: result.requests.average, p99Ms: result.latency.p99 };
}

export interface Tls {
  ca: string;
  cert: string;
  key: string;
}

/**
 * Sends POSTs to each target in turn, one at a time over a kept connection each; `names` replaces `NAME` in a body. Returns milliseconds by
 * target.
 */
async function latencies(targets: (Target & { tls?: Tls })[], names: string[]): Promise<number[][]> {
  const clients = targets.map(({ url, method = 'POST', headers = {}, body = '', tls }) => {
    const { origin, pathname: path } = new URL(url);
    const agent = new Agent({ connections: 1, ...(tls ? { connect: tls } : {}) });
    const ask = async (name: string): Promise<number> => {
      const since = performance.now();
      const answer = await agent.request({ origin, path, method, headers, body: body.replace('NAME', name) });
      const text = await answer.body.text();
      if (answer.statusCode !== 201) throw new Error(`${url} answered ${answer.statusCode}: ${text}`);
      return performance.now() - since;
    };
    return { agent, ask, took: [] as number[] };
  });
  for (const [n, name] of names.entries()) {
    // The first one may find the others' caches warm, so the order alternates too.
    for (const { ask, took } of n % 2 === 0 ? clients : clients.toReversed()) took.push(await ask(name));
  }
  await Promise.all(clients.map(({ agent }) => agent.close()));
  return clients.map(({ took }) => took);
}

export interface Polling {
  pollers: number;
  everySeconds: number;
  seconds: number;
}

/** Asks for a URL as many pages do, each over a connection of its own, evenly spread, and with the ETag that it had last. */
async function poll(url: string, { pollers, everySeconds, seconds }: Polling) {
  const { origin, pathname: path } = new URL(url);
  const counts = { asked: 0, unchanged: 0 };
  const clients = Array.from({ length: pollers }, () => new Client(origin, { keepAliveTimeout: 60_000 }));
  const begin = performance.now();
  const follow = async (client: Client, n: number) => {
    let etag = '';
    for (let at = (1000 * everySeconds * n) / pollers; at < 1000 * seconds; at += 1000 * everySeconds) {
      await setTimeout(begin + at - performance.now());
      const headers = etag === '' ? {} : { 'if-none-match': etag };
      const answer = await client.request({ path, method: 'GET', headers });
      await answer.body.dump();
      if (answer.statusCode !== 200 && answer.statusCode !== 304) throw new Error(`${url}: ${answer.statusCode}`);
      etag = String(answer.headers.etag ?? '');
      counts.asked += 1;
      if (answer.statusCode === 304) counts.unchanged += 1;
    }
  };
  await Promise.all(clients.map(follow));
  await setTimeout(begin + 1000 * seconds - performance.now());
  await Promise.all(clients.map((client) => client.close()));
  return counts;
}

const jobs = { rate, latencies, poll };
export type LoadJobs = typeof jobs;
serve(jobs);
