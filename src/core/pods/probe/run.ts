/**
 * Runs the pod of a destination's test: one attempt, one result in the file that Kubernetes reads when the container
 * ends.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Lifecycle } from '../../lib/lifecycle.ts';
import type { Logger } from '../../lib/log.ts';
import type { ProbeConfig } from '../../protocol/environment.ts';
import { SECRET_KEY_KEY, SECRET_LOGIN_KEYS, SECRET_URL_KEY } from '../../resources/common/names.ts';
import { confineSender } from '../confinement/confine.ts';
import { probe } from './probe.ts';

const DONE = 0;
const NOT_DONE = 1;

const readAll = async <Name extends string>(
  names: readonly Name[],
  read: (name: Name) => Promise<string>,
): Promise<Record<Name, string>> =>
  Object.fromEntries(await Promise.all(names.map(async (name) => [name, await read(name)] as const))) as Record<
    Name,
    string
  >;

/** Without a login there is no file of it. */
function missing(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT') return '';
  throw error;
}

/** Writes a ProbeResult to `config.resultFile`. Resolves with the exit code: 0 whenever there is a result. */
export async function runProbe(config: ProbeConfig, lifecycle: Lifecycle, log: Logger): Promise<number> {
  const { destinationDir, resultFile, caFile, allowPrivateDestinations: allowPrivate } = config;
  const sender = confineSender(config, log);
  // The process waits for its ffmpeg to end the publish: the destination would hold the key for longer otherwise.
  const { promise: settled, resolve: settle } = Promise.withResolvers<void>();
  lifecycle.exitStatus = NOT_DONE;
  lifecycle.defer('probe', () => settled);
  try {
    const read = (name: string) => readFile(join(destinationDir, name), 'utf8');
    const [address, login] = await Promise.all([
      readAll([SECRET_URL_KEY, SECRET_KEY_KEY], read),
      readAll(SECRET_LOGIN_KEYS, (name) => read(name).catch(missing)),
    ]);
    const result = await probe({ ...address, ...login }, { sender, caFile, allowPrivate, signal: lifecycle.signal });
    if (lifecycle.signal.aborted) return NOT_DONE;
    await writeFile(resultFile, JSON.stringify(result));
    const { ok, stage, code, message, tookMs } = result;
    log.info({ ok, stage, code, tookMs }, message);
    return DONE;
  } finally {
    settle();
  }
}
