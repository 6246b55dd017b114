/** Writes the files made from tools/generate/monitoring/: rules, their pages, dashboards. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DASHBOARDS } from './dashboards.ts';
import { dashboardJson } from './panel.ts';
import { RUNBOOKS, rulesFile, runbooks } from './rules.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Directory → its files, all of them. */
export const monitoringFiles = (): Map<string, Map<string, string>> =>
  new Map([
    [RUNBOOKS, runbooks()],
    ['charts/loopstream/rules', new Map([['alerts.yaml', rulesFile()]])],
    [
      'charts/loopstream/dashboards',
      new Map(DASHBOARDS.map((one) => [`${one.uid}.json`, `${JSON.stringify(dashboardJson(one), undefined, 2)}\n`])),
    ],
  ]);

/** Writes the files, removes others from their directories, and returns the directories. */
export function writeMonitoring(): string[] {
  return [...monitoringFiles()].map(([dir, files]) => {
    const path = join(ROOT, dir);
    mkdirSync(path, { recursive: true });
    for (const name of readdirSync(path)) if (!files.has(name)) rmSync(join(path, name));
    for (const [name, text] of files) writeFileSync(join(path, name), text);
    return path;
  });
}
