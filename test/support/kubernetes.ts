/** A real control plane for tests: its own state directory and ports, gone without a trace afterwards. */
import { mkdtemp, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** Call `stop` in afterAll; stop your own watches before. Takes about five seconds once the programs are built. */
export async function startTestKubernetes(
  options: Pick<ControlPlaneOptions, 'extraArgs'> = {},
): Promise<TestKubernetes> {
  const binaries = await ensureBinaries(binariesOptions());
  const stateDir = await mkdtemp(join(tmpdir(), 'loopstream-kubernetes-'));
  const forget = () => rm(stateDir, { recursive: true, force: true });
  try {
    const log = createLogger('kubernetes', 'warn');
    const plane = await startControlPlane({
      ...options,
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
