/** Runs `loopstream remove-finalizers`, for namespaces whose operator is gone; `helm uninstall` runs it. */
import { parseArgs } from 'node:util';
import { createKube } from '../../kube/client.ts';
import { environment } from '../../settings/environment.ts';
import { ConfigError } from '../../settings/settings.ts';
import { removeFinalizers } from './remove.ts';

const HELP = `loopstream remove-finalizers: lets streams and their pods be deleted where no operator is left

Usage: loopstream remove-finalizers <namespace>...

An operator holds its streams and their pods by finalizers until nothing of them is on air. Once it is gone for good, nobody
removes those, and a deleted stream, or its namespace, stays for ever. What is on air stays on air; an operator that is
installed again puts the finalizers on again. The cluster is that of KUBECONFIG, or the one that it runs in.
`;

function parse(args: string[]) {
  try {
    const options = { help: { type: 'boolean', short: 'h', default: false } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    if (!values.help && positionals.length === 0) throw new Error('Name a namespace.');
    return { help: values.help, namespaces: positionals };
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
  const kube = createKube({ kubeconfig: environment().KUBECONFIG });
  try {
    for (const namespace of namespaces) {
      const removed = await removeFinalizers(kube, namespace);
      process.stdout.write(`${namespace}: removed the finalizers of ${removed} streams and pods\n`);
    }
  } finally {
    await kube.close();
  }
  return 0;
}
