/** Writes every file that the types and tables make, so that the repository always shows what the code does. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { generateAgents } from './agents.ts';
import { writeChart } from './chart/generate.ts';
import { generateClient } from './client.ts';
import { generateCrds } from './crds.ts';
import { generateForms } from './forms.ts';
import { generateSchema } from './graphql.ts';
import { logsDocument } from './logs.ts';
import { metricsDocument } from './metrics.ts';
import { writeMonitoring } from './monitoring/generate.ts';
import { generateApi } from './openapi.ts';
import { settingsDocument } from './settings.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const DOCS = join(ROOT, 'docs');

async function writeDocs(): Promise<string[]> {
  mkdirSync(DOCS, { recursive: true });
  const file = (name: string) => join(DOCS, name);
  const [metrics, settings, logs, graphql, agents] = [
    file('metrics.md'),
    file('settings.md'),
    file('logs.md'),
    file('schema.graphql'),
    file('agents.md'),
  ];
  writeFileSync(metrics, metricsDocument());
  writeFileSync(settings, settingsDocument());
  writeFileSync(logs, logsDocument());
  await generateSchema(graphql);
  await generateAgents(agents);
  return [metrics, settings, logs, graphql, agents, ...(await generateApi(DOCS))];
}

// The chart contains the definitions, so these come first.
const written = [
  ...(await generateCrds(join(ROOT, 'crds'))),
  ...(await writeDocs()),
  ...(await generateClient()),
  generateForms(),
  ...writeMonitoring(),
  ...writeChart(),
];
process.stdout.write(`${written.join('\n')}\n`);
