/** Tests that the tests' Postgres and Redis behave the same in containers and as processes: one suite checks both. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { localEnvironment } from '../../../tools/process/environment.ts';
import { aroundContainers } from '../../kit/real/engine/containers.ts';
import { chosenWay, testEngine, type Way } from '../../kit/real/engine/find.ts';
import { query, startTestPostgres, type TestPostgres } from '../../kit/real/postgres.ts';
import { startTestRedis, type TestRedis } from '../../kit/real/redis.ts';
import { until } from '../../kit/wait.ts';

const engine = await testEngine();
const ways: Way[] = 'socket' in engine ? ['processes', 'containers'] : ['processes'];

test('they run in containers where there is an engine for it', async ({ skip }) => {
  const isMust = process.env.LOOPSTREAM_TEST_SERVERS === 'containers';
  if ('whyNot' in engine && !isMust) skip(`not in containers: ${engine.whyNot}`);
  expect(await chosenWay()).toBe('containers');
});

const connects = async (host: string, port: string): Promise<boolean> => {
  const socket = connect(Number(port), host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
};

/** A listener on all addresses of the machine, or of loopback, listens on these too. */
const OTHER_ADDRESSES = ['127.0.0.2', '::1'];

async function expectLoopbackOnly(url: string) {
  const { port } = new URL(url);
  expect(await connects('127.0.0.1', port)).toBe(true);
  for (const address of OTHER_ADDRESSES) expect(await connects(address, port), address).toBe(false);
}

describe.each(ways)('Postgres by %s', (way) => {
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startTestPostgres(way);
  });
  afterAll(() => postgres?.stop());

  test('requires its password, which no other server has', async () => {
    const { password } = new URL(postgres.url);
    const withPassword = (other: string) => Object.assign(new URL(postgres.url), { password: other }).href;
    await expect(query(withPassword('wrong'), 'select 1')).rejects.toThrow(/password authentication failed/);
    await expect(query(withPassword(''), 'select 1')).rejects.toThrow(/password/);
    const other = await startTestPostgres(way);
    onTestFinished(() => other.stop());
    expect(new URL(other.url).password).not.toBe(password);
    await expect(query(withPassword(new URL(other.url).password), 'select 1')).rejects.toThrow(/password/);
  });

  test('listens on 127.0.0.1 only', () => expectLoopbackOnly(postgres.url));

  test('has an empty database of the same settings', async () => {
    expect(await query(postgres.url, 'select current_database() as name, current_user as user')).toEqual([
      { name: 'loopstream', user: 'postgres' },
    ]);
    const names = ['fsync', 'server_encoding', 'lc_messages', 'TimeZone', 'password_encryption', 'max_connections'];
    const shown = await Promise.all(
      names.map(async (name) => Object.values((await query(postgres.url, `show ${name}`))[0] ?? {})[0]),
    );
    expect(shown).toEqual(['off', 'UTF8', 'C', 'UTC', 'scram-sha-256', '100']);
    expect(await query(postgres.url, `select datcollate from pg_database where datname = 'loopstream'`)).toEqual([
      { datcollate: 'C' },
    ]);
    expect(await query(postgres.url, `select 1 from pg_tables where schemaname = 'public'`)).toEqual([]);
  });

  test('is gone when it is stopped, also when that is asked for twice', async () => {
    const other = await startTestPostgres(way);
    await query(other.url, 'select 1');
    await other.stop();
    expect(await connects('127.0.0.1', new URL(other.url).port)).toBe(false);
    await other.stop();
  });
});

describe.each(ways)('Redis by %s', (way) => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startTestRedis(way);
  });
  afterAll(() => redis?.kill());

  /** Starts a client that retries nothing, and sees the end of its connection. */
  async function client(url = redis.url) {
    const opened = new Redis(url, { lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
    opened.on('error', () => {});
    onTestFinished(() => opened.disconnect());
    await opened.connect();
    return opened;
  }

  test('requires its password', async () => {
    const withPassword = (other: string) => redis.url.replace(redis.password, other);
    await expect(client(withPassword('wrong'))).rejects.toThrow();
    expect(await (await client()).ping()).toBe('PONG');
  });

  test('listens on 127.0.0.1 only', () => expectLoopbackOnly(redis.url));

  test('after a kill every connection ends and the port is free; a restart has the same port, and no data', async () => {
    const before = await client();
    await before.set('kept', 'no');
    const ended = once(before, 'end');
    await redis.kill();
    await ended;
    const { port } = new URL(redis.url);
    expect(await connects('127.0.0.1', port)).toBe(false);
    await redis.kill();
    await redis.start();
    expect(await (await client()).get('kept')).toBeNull();
  });

  test('paused: it accepts connections and data, and answers nothing until it is resumed', async () => {
    const other = await startTestRedis('processes');
    onTestFinished(() => other.kill());
    const clock = await client(other.url);
    const raw: Socket = connect(Number(new URL(redis.url).port), '127.0.0.1');
    onTestFinished(() => void raw.destroy());
    await once(raw, 'connect');
    redis.pause();
    const said = once(raw, 'data');
    let isSilent = true;
    void said.then(() => {
      isSilent = false;
    });
    raw.write('PING\r\n');
    expect(await connects('127.0.0.1', new URL(redis.url).port)).toBe(true);
    // This lasts as long as another server takes for a thousand answers, one after the other.
    for (let i = 0; i < 1000; i += 1) await clock.ping();
    expect(isSilent).toBe(true);
    redis.resume();
    expect(String(await said)).toMatch(/^-NOAUTH/);
  });

  test('paused, it can be killed all the same', async () => {
    redis.pause();
    await redis.kill();
    await redis.start();
    expect(await (await client()).ping()).toBe('PONG');
  });
});

test('the next run removes the servers of a killed worker', async ({ skip }) => {
  if ('whyNot' in engine) skip(`not in containers: ${engine.whyNot}`);
  const program = `
    import { startTestRedis } from '${new URL('../../kit/real/redis.ts', import.meta.url).href}';
    const { url } = await startTestRedis('containers');
    process.stdout.write(url + '\\n');
    setInterval(() => undefined, 1000);`;
  const worker = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(worker, 'exit');
  onTestFinished(() => void worker.kill('SIGKILL'));
  const { value } = await createInterface(worker.stdout)[Symbol.asyncIterator]().next();
  const { port } = new URL(String(value));
  expect(await connects('127.0.0.1', port)).toBe(true);
  // The engine is in use, and stays.
  const { cacheDir } = localEnvironment();
  await aroundContainers(cacheDir);
  expect(await connects('127.0.0.1', port)).toBe(true);
  worker.kill('SIGKILL');
  await exited;
  expect(await connects('127.0.0.1', port)).toBe(true);
  await aroundContainers(cacheDir);
  await until('its container is gone', async () => !(await connects('127.0.0.1', port)));
});
