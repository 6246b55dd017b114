/** Runs `loopstream remove-finalizers`, for namespaces whose operator is gone; `helm uninstall` runs it. */
import { parseArgs } from 'node:util';
import { createKube } from '../../kube/client.ts';
import { environment } from '../../settings/environment.ts';
import { ConfigError } from '../../settings/settings.ts';
import { removeFinalizers } from './remove.ts';

const HELP = `loopstream remove-finalizers: removes the finalizers of objects and pods after their operator is gone

Usage: loopstream remove-finalizers <namespace>...
       loopstream remove-finalizers --all

The operator keeps finalizers on streams and pods until they are off air, and on other objects until what belongs to
them is deleted. Without an operator, a deleted object or namespace stays forever. After the command, its Secrets, versions and
sources stay. The command takes no stream off air, and a new operator adds the finalizers again.

With --all, the command looks into each namespace of the cluster.

The command uses the cluster in KUBECONFIG, or the cluster of its pod.
`;

function parse(args: string[]) {
  try {
    const options = {
      all: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (!values.help && values.all === positionals.length > 0)
      throw new Error(values.all ? 'With --all, no namespace is named.' : 'The namespace is missing.');
    return { help: values.help, namespaces: values.all ? [undefined] : positionals };
  } catch (error) {
    throw new ConfigError(`${(error as Error).message} See loopstream remove-finalizers --help.`);
  }
}

export async function removeFinalizersCommand(args: string[]): Promise<number> {
  const { help, namespaces } = parse(args);
  if (help) {
    process.stdout.write(HELP);
    return 0;
  }
  const kube = createKube({ kubeconfig: environment().KUBECONFIG, role: 'remove-finalizers' });
  try {
    for (const namespace of namespaces) {
      const removed = await removeFinalizers(kube, namespace);
      process.stdout.write(`${namespace ?? 'all namespaces'}: removed the finalizers of ${removed} objects\n`);
    }
  } finally {
    await kube.close();
  }
  return 0;
}
