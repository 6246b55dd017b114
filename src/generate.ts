/** `loopstream generate`: writes what is made from the types, so that the repository always shows what the code does. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { generateAgents } from './agents/generate.ts';
import { generateSchema } from './graphql/generate.ts';
import { generateApi } from './http/generate.ts';
import { generateCrds } from './kube/generate.ts';
import { metricsDocument } from './metrics-doc.ts';

export async function generateCommand(): Promise<number> {
  const written = await generateCrds(resolve(import.meta.dirname, '../crds'));
  const metrics = resolve(import.meta.dirname, '../docs/metrics.md');
  await mkdir(dirname(metrics), { recursive: true });
  await writeFile(metrics, metricsDocument());
  written.push(metrics, ...(await generateApi(resolve(import.meta.dirname, '../docs'))));
  const graphql = resolve(import.meta.dirname, '../docs/schema.graphql');
  await generateSchema(graphql);
  written.push(graphql);
  const agents = resolve(import.meta.dirname, '../docs/agents.md');
  await generateAgents(agents);
  written.push(agents);
  process.stdout.write(`${written.join('\n')}\n`);
  return 0;
}
