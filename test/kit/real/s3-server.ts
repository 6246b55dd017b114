/** Runs a real S3 server for tests, on a free port, with its objects in a temporary directory. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { S3Client } from '@aws-sdk/client-s3';
import type { StorageCredentials } from '../../../src/core/pods/storage/storage.ts';
import { reserveFreePort } from '../../../tools/process/ports.ts';
import { until } from '../wait.ts';
import { ensureGoPrograms } from './go-programs.ts';

export interface S3Server {
  endpoint: string;
  credentials: StorageCredentials;
  /** A client of our own, to make buckets and check objects behind the storage's back. */
  client: S3Client;
  /** Kills the server and every connection; `start` brings it back on the same port with the same objects. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops and removes everything. */
  close(): Promise<void>;
}

/** Resolves when the server answers. `scripts/test-programs.ts` builds it beforehand, so that no test waits for that. */
export async function startS3Server(): Promise<S3Server> {
  const { versitygw } = await ensureGoPrograms();
  const root = await mkdtemp(join(tmpdir(), 's3-server-'));
  for (const name of ['objects', 'metadata']) await mkdir(join(root, name));
  const port = await reserveFreePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: 'AKIATESTTESTTEST', secretAccessKey: 'a-secret-that-no-log-may-show' };
  // The client modifies its options.
  const client = new S3Client({
    endpoint,
    region: 'us-east-1',
    forcePathStyle: true,
    credentials: { ...credentials },
  });
  let child: ChildProcess | undefined;

  const start = async () => {
    const started = spawn(
      versitygw,
      [
        '--port',
        `127.0.0.1:${port}`,
        '--health',
        '/health',
        'posix',
        '--sidecar',
        join(root, 'metadata'),
        join(root, 'objects'),
      ],
      {
        env: { ROOT_ACCESS_KEY: credentials.accessKeyId, ROOT_SECRET_KEY: credentials.secretAccessKey },
        stdio: 'ignore',
      },
    );
    child = started;
    await until('the S3 server answers', async () => {
      if (started.exitCode !== null) throw new Error(`the S3 server ended with status ${started.exitCode}`);
      return (await fetch(`${endpoint}/health`).catch(() => undefined))?.ok;
    });
  };
  const stop = async () => {
    if (child && child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    child = undefined;
  };
  const close = async () => {
    client.destroy();
    await stop();
    await rm(root, { recursive: true, force: true });
  };
  await start().catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return { endpoint, credentials, client, stop, start, close };
}
