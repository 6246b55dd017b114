/**
 * Starts the system on a cluster of kind: the chart in the cluster, and beside it, on this machine, PostgreSQL, the mailbox and the RTMP
 * receiver, which pods reach at the address of the engine's network.
 */
import { createKube } from '../../../src/core/kube/client.ts';
import { untilOk } from '../../process/ready.ts';
import { PROJECT_ROOT } from '../../process/root.ts';
import { ensureAccount } from '../account.ts';
import type { Context } from '../context.ts';
import { describeSystem, findPublicUrl } from '../facts.ts';
import { startServices } from '../infrastructure.ts';
import type { LocalFacts } from '../state.ts';
import { loadImages, openCluster } from './cluster.ts';
import { createCommands, requireKind } from './commands.ts';
import { forward } from './forward.ts';
import { ensureImages, type ImageTags, REPOSITORIES } from './image.ts';
import { installRelease } from './release.ts';

const HERE = '127.0.0.1';
/** Settings of our own environment that the release gets; the chart's values have the others. */
const HEEDED = ['LOOPSTREAM_LOG_LEVEL', 'LOOPSTREAM_PUBLIC_URL'];

const nameImages = ({ image, prepareImage }: ImageTags): string[] => [
  `${REPOSITORIES.image}:${image}`,
  `${REPOSITORIES.prepareImage}:${prepareImage}`,
];

/** Resolves when the API serves. */
export async function startOnKind(context: Context): Promise<LocalFacts> {
  const { env, options, ports, state, lifecycle, progress } = context;
  const { signal } = lifecycle;
  const engine = await requireKind(env);
  const commands = createCommands(env);
  const ignored = Object.keys(env.settings).filter((name) => !HEEDED.includes(name));
  if (ignored.length > 0) progress.say(`  With --kind, these have no effect: ${ignored.join(', ')}.`);

  const [cluster, tags, { database, account }] = await Promise.all([
    openCluster(context, commands, engine),
    progress.step('images', async () => {
      const made = await ensureImages(commands, { image: options.image, context: PROJECT_ROOT, signal });
      // The node has them by then, also one that is kept.
      lifecycle.defer('images', () => commands.docker(['rmi', ...nameImages(made)]).then(() => {}));
      return made;
    }),
    startServices(context).then(async (database) => {
      if (!database) throw new Error('--kind needs PostgreSQL.');
      return { database, account: await ensureAccount(state, database.url) };
    }),
  ]);
  const expose = async (name: string, from: { host: string; port: number }, to: { host: string; port: number }) =>
    lifecycle.defer(name, await forward(from, to));

  const databaseUrl = new URL(database.url);
  const { gateway } = cluster;
  for (const port of [ports.rtmp, ports.media, ports.smtp, Number(databaseUrl.port)])
    await expose(`port ${port}`, { host: gateway, port }, { host: HERE, port });
  databaseUrl.hostname = gateway;

  await loadImages(context, commands, nameImages(tags));
  const kube = createKube({ kubeconfig: cluster.kubeconfig });
  lifecycle.defer('kube client', () => kube.close());
  await progress.step('chart', async () => {
    const port = await installRelease(cluster, kube, commands, {
      tags,
      authSecret: state.readMemory().authSecret,
      databaseUrl: databaseUrl.href,
      smtpUrl: `smtp://${gateway}:${ports.smtp}`,
      gateway,
      mediaPorts: [ports.rtmp, ports.media],
      publicUrl: findPublicUrl(context),
      logLevel: env.logLevel,
      signal,
    });
    await untilOk(`http://${cluster.node}:${port}/`, signal);
    await expose('API', { host: options.host, port: ports.api }, { host: cluster.node, port });
  });
  cluster.markReady();
  const { kubeconfig } = cluster;
  return describeSystem(context, { account, databaseUrl: database.url, kubeconfig, receiverHost: gateway });
}
