import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { Reporter, type ReporterOptions } from '../../../../../../src/core/pods/streamer/control/reporter.ts';
import type { StreamerReport } from '../../../../../../src/core/protocol/report.ts';
import { silent } from '../../../../../kit/real/kube.ts';
import { tempDir } from '../../../../../kit/temp-dir.ts';
import { until } from '../../../../../kit/wait.ts';

const dir = tempDir();
beforeAll(async () => {
  await writeFile(join(dir, 'token'), 'the-token\n');
});

interface Received {
  path: string | undefined;
  authorization: string | undefined;
  body: unknown;
}

/** Starts an operator that answers with these statuses, then with the last one for ever, and with this text. */
async function startOperator(statuses: number[], port = 0, text = '') {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const respond = async (request: IncomingMessage): Promise<number> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    received.push({ path: request.url, authorization: request.headers.authorization, body });
    sockets.add(request.socket);
    return (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 500;
  };
  const server = createServer((request, response) => {
    void respond(request).then((status) => {
      if (status !== 204) response.setHeader('connection', 'close');
      response.writeHead(status).end(status === 204 ? undefined : text);
    });
  });
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done));
  const close = () => {
    server.closeAllConnections();
    return new Promise((done) => server.close(done));
  };
  onTestFinished(() => void close());
  return { port: (server.address() as AddressInfo).port, received, sockets, close };
}

/** Starts a reporter whose clock the test turns. */
function startReporter(port: number, more: Partial<ReporterOptions> = {}) {
  let nowMs = 0;
  let failed = false;
  const report = () => ({ ...REPORT, live: !failed }) as StreamerReport;
  const clock = { now: () => new Date(), monotonicMs: () => nowMs };
  const options = { url: `http://127.0.0.1:${port}`, podUid: 'uid-1', token: async () => 'the-token', log: silent };
  const reporter = new Reporter({ ...options, report, clock, ...more });
  onTestFinished(() => reporter.close());
  return {
    reporter,
    turn: (ms: number) => {
      nowMs += ms;
      reporter.check();
    },
    fail: () => {
      failed = true;
      reporter.noteChange();
    },
  };
}

const REPORT = {
  live: true,
  held: false,
  playable: true,
  clock: { video: null, audio: null },
  brokenItems: [],
  preparationBehind: { count: 0, item: null, since: null },
  runs: [],
  destinations: [],
};

test('pushes the report of the pod with the token, at once and when something changes', async () => {
  const { port, received, sockets } = await startOperator([204]);
  const { reporter, turn, fail } = startReporter(port);
  expect(reporter.isHeard).toBe(false);
  turn(0);
  await until('it is heard', () => reporter.isHeard);
  expect(received).toEqual([{ path: '/reports/uid-1', authorization: 'Bearer the-token', body: REPORT }]);
  // Nothing has changed.
  turn(60_000);
  turn(60_000);
  fail();
  await until('the change has come', () => received.length === 2);
  expect(received[1]?.body).toEqual({ ...REPORT, live: false });
  expect(sockets.size).toBe(1);
});

test('connects again where an operator does not lead', async () => {
  const { port, received, sockets } = await startOperator([421, 421, 204]);
  const { reporter, turn } = startReporter(port);
  turn(0);
  await until('it is heard', () => reporter.isHeard);
  expect(received).toHaveLength(3);
  expect(sockets.size).toBe(3);
});

test('gives up for now where no operator leads, or the token is refused', async () => {
  for (const [status, requests] of [
    [421, 4],
    [401, 1],
    [404, 1],
  ] as const) {
    const { port, received } = await startOperator([status]);
    const { reporter, turn } = startReporter(port);
    turn(0);
    await until('it was asked', () => received.length === requests);
    await reporter.close();
    expect(received).toHaveLength(requests);
    expect(reporter.isHeard).toBe(false);
  }
});

test('an operator that goes and comes back is told the latest state', async () => {
  const first = await startOperator([204]);
  const { reporter, turn, fail } = startReporter(first.port);
  turn(0);
  await until('it is heard', () => reporter.isHeard);
  await first.close();
  turn(1000);
  fail();
  await until('it is not heard', () => !reporter.isHeard);
  const second = await startOperator([204], first.port);
  turn(1000);
  await until('it is heard again', () => reporter.isHeard);
  expect(second.received.map(({ body }) => body)).toEqual([{ ...REPORT, live: false }]);
});

const GRANT = { publisher: 'uid-1', viewToken: 'view-token' };

test('a report that is answered with a grant counts as heard when the grant was taken, and is not pushed again', async () => {
  const { port, received } = await startOperator([200], 0, JSON.stringify(GRANT));
  const granted: object[] = [];
  const taken = Promise.withResolvers<void>();
  const onGrant = (grant: object) => {
    granted.push(grant);
    return taken.promise;
  };
  const { reporter, turn } = startReporter(port, { onGrant });
  turn(0);
  await until('the grant has come', () => granted.length === 1);
  expect(reporter.isHeard).toBe(false);
  taken.resolve();
  await until('it is heard', () => reporter.isHeard);
  turn(60_000);
  expect(granted).toEqual([GRANT]);
  expect(received).toHaveLength(1);
});

/** Counts what a reporter says of its failures. */
function countFailures() {
  const failures: unknown[] = [];
  const log = { info: (failure: unknown) => void failures.push(failure) } as unknown as ReporterOptions['log'];
  return { failures, log };
}

test('a grant that could not be taken is a failure, and the report is pushed again', async () => {
  const { port, received } = await startOperator([200, 204], 0, JSON.stringify(GRANT));
  const { failures, log } = countFailures();
  const { reporter, turn } = startReporter(port, { log, onGrant: () => Promise.reject(new Error('not now')) });
  turn(0);
  await until('it has failed', () => failures.length === 1);
  expect(reporter.isHeard).toBe(false);
  turn(2000);
  await until('it is heard', () => reporter.isHeard);
  expect(received).toHaveLength(2);
});

test('an answer of status 200 without a grant is a failure', async () => {
  for (const text of ['', 'null', '{}', '{"publisher":"uid-1"}', `<p>${JSON.stringify(GRANT)}</p>`]) {
    const { port } = await startOperator([200], 0, text);
    const { failures, log } = countFailures();
    const granted: object[] = [];
    const { reporter, turn } = startReporter(port, { log, onGrant: async (grant) => void granted.push(grant) });
    turn(0);
    await until('it has failed', () => failures.length === 1);
    expect(reporter.isHeard, text).toBe(false);
    expect(granted).toEqual([]);
  }
});

test('an answer of another status grants nothing, whatever it says', async () => {
  const { port } = await startOperator([201], 0, JSON.stringify(GRANT));
  const { failures, log } = countFailures();
  const granted: object[] = [];
  const { turn } = startReporter(port, { log, onGrant: async (grant) => void granted.push(grant) });
  turn(0);
  await until('it has failed', () => failures.length === 1);
  expect(granted).toEqual([]);
});
