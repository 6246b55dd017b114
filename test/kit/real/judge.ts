/** Judges objects as the tools that wait for them do: kstatus (Helm, Flux, kpt), and Argo CD with the script of docs/gitops.md. */
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import type { KubeObject } from '../../../src/core/kube/types.ts';
import { run } from '../../../tools/process/run.ts';
import { ensureHealth } from './go-programs.ts';

const GUIDE = resolve(import.meta.dirname, '../../../docs/gitops.md');

/** kstatus → the health of Argo CD. */
export const ARGO = {
  Current: 'Healthy',
  InProgress: 'Progressing',
  Failed: 'Degraded',
  Terminating: 'Progressing',
} as const;

export type KStatus = keyof typeof ARGO;

export interface Verdict {
  kstatus: KStatus;
  /** Argo CD's word for health: Healthy, Progressing, Degraded … */
  argo: string;
}

export type Judge = (objects: readonly KubeObject[]) => Promise<Verdict[]>;

/** Writes the script into `dir`. The function that it returns gives the verdicts in the order of the objects. */
export async function openJudge(dir: string): Promise<Judge> {
  const { health } = await ensureHealth();
  const [, block] = /<!-- health check: begin -->\s*```yaml\n(.*?)```/s.exec(await readFile(GUIDE, 'utf8')) ?? [];
  const { data } = parse(block ?? '') as { data: Record<string, string> };
  const scripts = parse(data['resource.customizations'] ?? '') as Record<string, Record<string, string>>;
  const check = join(dir, 'health.lua');
  await writeFile(check, scripts['loopstream.dev/*']?.['health.lua'] ?? '');
  return async (objects) => {
    const env = { PATH: process.env.PATH, HOME: dir };
    const { ok, stdout, stderr } = await run(health, [check], { env, input: JSON.stringify(objects) });
    if (!ok) throw new Error(stderr);
    return JSON.parse(stdout) as Verdict[];
  };
}
