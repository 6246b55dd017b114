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

/** Starts an operator that answers with these statuses, then with the last one for ever. */
async function startOperator(statuses: number[], port = 0) {
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
      response.writeHead(status).end();
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
  interruption: null,
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

test('an answer of any status but 204 is a failure, and the report is pushed again', async () => {
  const { port, received } = await startOperator([200, 201, 204]);
  const { reporter, turn } = startReporter(port);
  turn(0);
  for (const count of [1, 2]) {
    await until('it was pushed', () => received.length === count);
    expect(reporter.isHeard).toBe(false);
    await until('it is pushed again', () => {
      turn(2000);
      return received.length > count;
    });
  }
  await until('it is heard', () => reporter.isHeard);
});
