/** Runs Helm in tests: each with a home of its own, against one cluster or none. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../../src/core/kube/types.ts';
import { environment } from '../../../../src/core/settings/environment.ts';
import { CHART } from '../../../../tools/generate/chart/generate.ts';
import { type CommandResult, run } from '../../../../tools/process/run.ts';
import { ensureHelms } from './program.ts';

export type Values = Record<string, unknown>;
/** An object as a chart renders it. */
export type Manifest = KubeObject<Record<string, unknown>> &
  Record<string, unknown> & { apiVersion: string; kind: string };

export interface Helm {
  /** `Helm 3` or `Helm 4`. */
  name: string;
  /** Runs a command; `values` are passed as a file. */
  run(args: string[], values?: Values): Promise<CommandResult>;
  /** Returns the chart's objects as Helm would send them. Throws Helm's message when it refuses. */
  render(values: Values, args?: string[]): Promise<Manifest[]>;
}

/** Results of `helm template` by program and values: each costs a fifth of a second of a processor, and is the same in all tests. */
const rendered = new Map<string, Promise<CommandResult>>();

/** Opens both Helms. `close` removes their homes. */
export async function openHelms(kubeconfig: string): Promise<{ helms: Helm[]; close: () => void }> {
  const home = mkdtempSync(join(tmpdir(), 'loopstream-helm-'));
  const { helm4, helm3 } = await ensureHelms();
  const releases = [
    { name: 'Helm 4', path: helm4 },
    { name: 'Helm 3', path: helm3 },
  ];
  const helms = releases.map(({ name, path }): Helm => {
    const { PATH, GOGC } = environment();
    const env = { PATH, GOGC, HOME: join(home, name), KUBECONFIG: kubeconfig };
    const runHelm: Helm['run'] = (args, values) => {
      const more = values ? ['--values', '-'] : [];
      const input = values && JSON.stringify(values);
      return run(path, [...args, ...more], { env, timeoutMs: 100_000, ...(input !== undefined && { input }) });
    };
    const template = (values: Values, args: string[] = []) =>
      runHelm(
        ['template', 'loopstream', CHART, '--namespace', 'loopstream', '--kube-version', '1.36.3', ...args],
        values,
      );
    const templateOnce = (values: Values) => {
      const key = JSON.stringify([path, values]);
      const result = rendered.get(key) ?? template(values);
      rendered.set(key, result);
      return result;
    };
    const render: Helm['render'] = async (values, args) => {
      // With arguments, Helm may ask the cluster, whose objects change.
      const { ok, stdout, stderr } = await (args ? template(values, args) : templateOnce(values));
      if (!ok) throw new Error(stderr);
      return parseAllDocuments(stdout).flatMap((document) => (document.toJS() ?? []) as Manifest);
    };
    return { name, run: runHelm, render };
  });
  return { helms, close: () => rmSync(home, { recursive: true, force: true }) };
}
