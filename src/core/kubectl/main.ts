/**
 * Starts the plugin: `kubectl loop` under the name kubectl-loop, and its completion under kubectl_complete-loop. It is bundled as a
 * plain script, which awaits nothing at its top level.
 */
import { basename } from 'node:path';
import { complete } from './complete.ts';
import { runPlugin } from './run.ts';
import { write } from './shell/output.ts';

// A reader that closes its end, such as `head`, has read enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const [, program = '', ...words] = process.argv;
// The exit status is set, and the process ends by itself: a pipe may still take the last lines.
async function main(): Promise<void> {
  if (basename(program).startsWith('kubectl_complete-')) write(await complete(words));
  else process.exitCode = await runPlugin(words);
}
void main();
