/** Runs `loopstream crds`: the certificate of the conversion webhook, and the migration of stored objects. */
import { parseArgs } from 'node:util';
import { createKube } from '../../kube/client.ts';
import type { Kube } from '../../kube/types.ts';
import { MigrationError, migrateStorage } from '../../resources/crd/migrate.ts';
import { VERSIONS } from '../../resources/versions/names.ts';
import { environment } from '../../settings/environment.ts';
import { ConfigError } from '../../settings/settings.ts';
import { listOldOperators } from './old-operators.ts';
import { ensureCertificate, readCertificate, trustWebhook } from './trust.ts';

const HELP = `loopstream crds: looks after the versions of the resources

Usage: loopstream crds migrate [--to v1beta1|v1alpha1]
       loopstream crds certificate --namespace <name> --service <name> --secret <name> [--existing | --secret-only]

migrate writes every stored object again, as v1beta1 or as the version of --to, and then lets the definitions say so. Run it
after each operator and API server is of the new release. Streams stay on air. If it is interrupted, run it again. Before you
roll back to a release that knows only v1alpha1, run it with --to v1alpha1. docs/upgrade.md describes both.

certificate makes the certificate of the conversion webhook in a Secret, or renews it when half of its time is over, and
makes the definitions trust it. The Job of the chart runs it.
  --service      the Service that leads to the operators
  --existing     uses the Secret as it is, with the keys tls.crt, tls.key and ca.crt
  --secret-only  renews no authority, and does not touch the definitions

The command uses the cluster in KUBECONFIG, or the cluster of its pod, with your rights there.
`;

const OPTIONS = {
  to: { type: 'string' },
  namespace: { type: 'string' },
  service: { type: 'string' },
  secret: { type: 'string' },
  existing: { type: 'boolean', default: false },
  'secret-only': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

type Values = ReturnType<typeof parse>['values'];
type Say = (line: string) => void;
type Run = (kube: Kube, values: Values, say: Say) => Promise<void>;

/** Which options each command has. */
const COMMANDS: Record<string, { options: (keyof typeof OPTIONS)[]; run: Run }> = {
  migrate: { options: ['to'], run: migrate },
  certificate: { options: ['namespace', 'service', 'secret', 'existing', 'secret-only'], run: certificate },
};

const parse = (args: string[]) => parseArgs({ args, options: OPTIONS, allowPositionals: true });

function readCommand(args: string[]): { run: Run; values: Values } | undefined {
  try {
    const { values, positionals } = parse(args);
    if (values.help) return undefined;
    const [name = ''] = positionals;
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (!command || positionals.length > 1)
      throw new Error(`The command is one of ${Object.keys(COMMANDS).join(', ')}.`);
    const wrong = Object.entries(values).find(
      ([option, value]) => value && !(command.options as string[]).includes(option),
    );
    if (wrong) throw new Error(`${name} has no option --${wrong[0]}.`);
    return { run: command.run, values };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream crds --help.`);
  }
}

async function migrate(kube: Kube, values: Values, say: Say): Promise<void> {
  const to = values.to === undefined ? VERSIONS[0] : VERSIONS.find((version) => version === values.to);
  if (to === undefined) throw new ConfigError(`--to must be one of ${VERSIONS.join(', ')}.`);
  if (to === VERSIONS[0]) {
    const old = await listOldOperators(kube);
    if (old.length > 0)
      throw new MigrationError(
        `Operators of an older release are running (${old.join(', ')}), so nothing was changed. Wait until the upgrade is complete.`,
      );
  }
  await migrateStorage(kube, { to, onProgress: say });
}

async function certificate(kube: Kube, values: Values, say: Say): Promise<void> {
  const { namespace, service, secret, existing } = values;
  if (!namespace || !service || !secret)
    throw new ConfigError('--namespace, --service and --secret are needed. See loopstream crds --help.');
  const webhook = { namespace, service, secret };
  const place = `the Secret ${secret} in ${namespace}`;
  const { data, renewed } = existing
    ? { data: await readCertificate(kube, webhook), renewed: false }
    : await ensureCertificate(kube, webhook, { now: new Date(), leafOnly: values['secret-only'] });
  const caBundle = data['ca.crt'];
  if (!caBundle) throw new ConfigError(`There is no ca.crt in ${place}. Write the authority of the certificate there.`);
  say(renewed ? `Made a certificate in ${place}.` : `The certificate in ${place} stays.`);
  if (values['secret-only']) return;
  const missing = await trustWebhook(kube, webhook, caBundle);
  say(
    missing.length === 0
      ? 'The definitions trust it.'
      : `The definitions trust it, but these do not exist yet: ${missing.join(', ')}.`,
  );
}

export async function crdsCommand(args: string[]): Promise<number> {
  const command = readCommand(args);
  if (!command) {
    process.stdout.write(HELP);
    return 0;
  }
  const kube = createKube({ kubeconfig: environment().KUBECONFIG, role: 'crds' });
  try {
    await command.run(kube, command.values, (line) => void process.stdout.write(`${line}\n`));
    return 0;
  } catch (error) {
    if (!(error instanceof MigrationError)) throw error;
    process.stderr.write(`loopstream: ${error.message}\n`);
    return 1;
  } finally {
    await kube.close();
  }
}
