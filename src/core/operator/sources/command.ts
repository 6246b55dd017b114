/** Runs `loopstream adopt` and `loopstream forget-sources`, commands of the staff on the media storage. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { createKube } from '../../kube/client.ts';
import { NAMESPACES } from '../../kube/core.ts';
import { hasReason, type Kube } from '../../kube/types.ts';
import { openStorage } from '../../pods/storage/open.ts';
import type { Storage } from '../../pods/storage/storage.ts';
import { storageCredentials } from '../../protocol/environment.ts';
import { NAMESPACE_PLACEHOLDER } from '../../settings/common.ts';
import { environment } from '../../settings/environment.ts';
import { ConfigError, reader } from '../../settings/settings.ts';
import { adopt } from './adopt.ts';
import { forgetSources } from './forget.ts';
import { RefusedError } from './refused.ts';

const USES = `The command uses the cluster in KUBECONFIG, or the cluster of its pod, with your rights there, and the storage in
LOOPSTREAM_STORAGE_URL with its credentials, as the operator has them. If it is interrupted, run it again.
docs/backup.md describes a restore.
`;

const ADOPT_HELP = `loopstream adopt: gives the media of another namespace or installation to the uploads here

Usage: loopstream adopt --from <namespace> --to <namespace> [options]

Uploads that are restored under their name, account and namespace in the same cluster find their media by themselves. This
command is for all others. It reads the records in the storage of --to, and gives each to the upload in --to that has its name,
account, track and link. The upload becomes ready without being sent again, also where it has failed.

It also takes over a storage that another installation has: the way out of storage_taken.

  --from          the namespace that the uploads had
  --to            the namespace that they have now
  --installation  the installation that had them, a UID of kube-system; needed where several had uploads in --from
  --here          the installation here, where you may not read the namespace kube-system
  --take-over     says that the other installation is gone for good: two with one storage delete each other's media
  --dry-run       shows what would be done, and changes nothing

It exits with 1 where a record finds no upload.
${USES}`;

const FORGET_HELP = `loopstream forget-sources: gives up the sources in the media storage that no upload has

Usage: loopstream forget-sources <namespace> [options]

A sweep keeps such a source for 30 days where nobody has deleted its upload, and reports it (SweepSuspicious). After this
command, it deletes the source after its grace time (LOOPSTREAM_SWEEP_GRACE_HOURS). What an upload has, or may take up, is kept.

  --installation  another installation, which is gone for good: its sources are given up as well
  --here          the installation here, where you may not read the namespace kube-system
  --dry-run       shows what would be given up, and changes nothing

${USES}`;

const COMMON = {
  installation: { type: 'string' },
  here: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;
const ADOPT = {
  ...COMMON,
  from: { type: 'string' },
  to: { type: 'string' },
  'take-over': { type: 'boolean', default: false },
} as const;

const UID = /^[A-Za-z0-9][A-Za-z0-9-]{0,62}$/;

/** Returns undefined for `--help`. Throws ConfigError. */
function parse<O extends NonNullable<ParseArgsConfig['options']>, T>(
  command: string,
  config: { args: string[]; options: O; allowPositionals: boolean },
  read: (parsed: ReturnType<typeof parseArgs<typeof config>>) => T,
): T | undefined {
  try {
    const parsed = parseArgs(config);
    const values: Record<string, unknown> = parsed.values;
    if (values.help === true) return undefined;
    for (const name of ['installation', 'here'])
      if (values[name] !== undefined && !UID.test(String(values[name])))
        throw new Error(`--${name} must be a UID, such as that of kube-system.`);
    return read(parsed);
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream ${command} --help.`);
  }
}

async function readInstallation(kube: Pick<Kube, 'get'>): Promise<string> {
  try {
    return (await kube.get(NAMESPACES, '', 'kube-system')).metadata.uid;
  } catch (error) {
    if (!hasReason(error, 'Forbidden')) throw error;
    throw new RefusedError('You may not read the namespace kube-system. Give its UID with --here.');
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Opens the cluster and the storage of a namespace. Resolves with the exit code. */
async function run(
  { role, namespace, here }: { role: string; namespace: string; here: string | undefined },
  work: (kube: Kube, storage: Storage, installation: string) => Promise<number>,
): Promise<number> {
  const env = environment();
  const url = reader(env).text('STORAGE_URL').replaceAll(NAMESPACE_PLACEHOLDER, namespace);
  const storage = await openStorage(url, { credentials: storageCredentials(env) });
  const kube = createKube({ kubeconfig: env.KUBECONFIG, role });
  try {
    return await work(kube, storage, here ?? (await readInstallation(kube)));
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    process.stderr.write(`loopstream: ${error.message}\n`);
    return 1;
  } finally {
    await kube.close();
  }
}

export async function adoptCommand(args: string[]): Promise<number> {
  const options = parse('adopt', { args, options: ADOPT, allowPositionals: false }, ({ values }) => {
    const { from, to, installation, here, 'take-over': takeOver, 'dry-run': dryRun } = values;
    if (!from || !to) throw new Error('--from and --to are needed.');
    return { from, to, here, fromInstallation: installation, takeOver, dryRun };
  });
  if (!options) {
    process.stdout.write(ADOPT_HELP);
    return 0;
  }
  const { here, ...rest } = options;
  return run({ role: 'adopt', namespace: rest.to, here }, async (kube, storage, installation) => {
    const counts = await adopt(kube, storage, { ...rest, installation, now: new Date(), onProgress: say });
    const { adopted, done, refused } = counts;
    say(`${rest.dryRun ? 'Would adopt' : 'Adopted'} ${adopted}; ${done} need nothing; refused ${refused}.`);
    if (refused > 0)
      say('Restore the uploads of the refused ones and run this again, or see loopstream forget-sources.');
    return refused > 0 ? 1 : 0;
  });
}

export async function forgetSourcesCommand(args: string[]): Promise<number> {
  const config = { args, options: COMMON, allowPositionals: true };
  const options = parse('forget-sources', config, ({ values, positionals }) => {
    const [namespace, ...others] = positionals;
    if (!namespace || others.length > 0) throw new Error('One namespace is needed.');
    return { namespace, here: values.here, goneInstallation: values.installation, dryRun: values['dry-run'] };
  });
  if (!options) {
    process.stdout.write(FORGET_HELP);
    return 0;
  }
  const { here, ...rest } = options;
  return run({ role: 'forget-sources', namespace: rest.namespace, here }, async (kube, storage, installation) => {
    const counts = await forgetSources(kube, storage, { ...rest, installation, onProgress: say });
    const { forgotten, bytes, kept } = counts;
    say(`${rest.dryRun ? 'Would give up' : 'Gave up'} ${forgotten} of ${bytes} bytes together; kept ${kept}.`);
    return 0;
  });
}
