/** Checks whether this machine can make a release: its programs are linked to the libraries that the image has. */
import { existsSync, readFileSync } from 'node:fs';
import { environment } from '../../src/core/settings/environment.ts';
import { run } from '../../tools/process/run.ts';
import { readSystem, SUITE } from '../../tools/process/system.ts';

const CONTAINER = 'docker run --rm --volume "$PWD":/src --workdir /src node:24-bookworm make release';

/** Returns the reason and the way out in a sentence; undefined when it can. */
export async function whyNoRelease(file = '/etc/os-release'): Promise<string | undefined> {
  const { suite, name } = readSystem(existsSync(file) ? readFileSync(file, 'utf8') : '');
  if (suite === SUITE) return undefined;
  const { ok } = await run('docker', ['version', '--format', '{{.Server.Version}}'], { env: environment() });
  const how = ok ? 'Run it' : 'Docker is missing too: install it (https://docs.docker.com/engine/install/), and run it';
  return `A release is made on Debian ${SUITE}, and this is ${name}. ${how} in a container: ${CONTAINER}`;
}
