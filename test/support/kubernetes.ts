/** A real control plane for tests: its own state directory and ports, gone without a trace afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { type BinariesOptions, ensureBinaries } from '../../src/local/kubernetes/binaries.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../../src/local/kubernetes/controlplane.ts';
import type { Binaries } from '../../src/local/kubernetes/programs.ts';
import { createLogger } from '../../src/log.ts';

export interface TestKubernetes extends ControlPlane {
  stateDir: string;
  binaries: Binaries;
}

/** The same cache that `make run` uses, so that the tests build nothing anew. */
export const binariesOptions = (): BinariesOptions => ({
  cacheDir: join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'loopstream'),
  assetsDir: process.env.KUBEBUILDER_ASSETS || undefined,
  env: process.env,
});

/**
 * One of its own, for tests that end its parts, change what all share, or make nodes. Call `stop` in afterAll; stop your own
 * watches before. Takes about five seconds, and nearly four of a processor, once the programs are built.
 */
export async function startTestKubernetes(
  options: Pick<ControlPlaneOptions, 'extraArgs'> & { in?: string; logLevel?: 'silent' } = {},
): Promise<TestKubernetes> {
  const { in: parent = tmpdir(), logLevel = 'warn', ...rest } = options;
  const binaries = await ensureBinaries(binariesOptions());
  const stateDir = await mkdtemp(join(parent, 'loopstream-kubernetes-'));
  const forget = () => rm(stateDir, { recursive: true, force: true });
  try {
    const log = createLogger('kubernetes', logLevel);
    const plane = await startControlPlane({
      ...rest,
      stateDir,
      binaries,
      env: process.env,
      unsafeNoFsync: true,
      log,
    });
    return { ...plane, stateDir, binaries, stop: () => plane.stop().then(forget) };
  } catch (error) {
    await forget();
    throw error;
  }
}

let shared: Promise<TestKubernetes> | undefined;

/**
 * The one of this worker, for the tests of all files that come to it: what a file makes there it takes away, or gives names
 * of its own. It is ended with the run (shared.ts), so that `stop` does nothing.
 */
export async function shareTestKubernetes(): Promise<TestKubernetes> {
  shared ??= startTestKubernetes({ in: inject('sharedDir'), logLevel: 'silent' });
  return { ...(await shared), stop: async () => {} };
}
