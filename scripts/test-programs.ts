/**
 * Sees to it that what tests need is there: an independent RTMP receiver, a browser, jq for the README's commands, the
 * Kubernetes control plane, Helm and an S3 server, whose first builds take longer than a test may.
 */
import { environment, localEnvironment } from '../src/config.ts';
import { ensureBinaries } from '../src/local/kubernetes/binaries.ts';
import { NODE_PROGRAM_KEYS, PROGRAM_KEYS } from '../src/local/kubernetes/programs.ts';
import { ensurePrograms } from '../src/local/preflight.ts';
import { ensureClusterPrograms, ensureMachinePrograms, whyNot } from '../test/support/cluster/programs.ts';
import { ensureHelms } from '../test/support/helm/binaries.ts';
import { ensureDefinitions } from '../test/support/helm/definitions.ts';
import { ensureVersitygw } from '../test/support/versitygw/binary.ts';

const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

await ensurePrograms(
  [
    { command: 'ffmpeg', aptPackage: 'ffmpeg' },
    { command: 'openssl', aptPackage: 'openssl' },
    { command: 'nginx', aptPackage: 'nginx' },
    { file: RTMP_MODULE, aptPackage: 'libnginx-mod-rtmp' },
    { command: 'stunnel', aptPackage: 'stunnel4' },
    { command: 'chromium', aptPackage: 'chromium' },
    { command: 'jq', aptPackage: 'jq' },
    { command: 'curl', aptPackage: 'curl' },
    { command: 'promtool', aptPackage: 'prometheus' },
  ],
  { env: environment(), onProgress: (step) => process.stdout.write(`${step}\n`) },
);

const { cacheDir, kubebuilderAssets } = localEnvironment();
const hasNodes = (await whyNot()) === undefined;
// In one go, where both are wanted: most of them is the same code.
await ensureBinaries(
  {
    cacheDir,
    assetsDir: kubebuilderAssets,
    env: environment(),
    onProgress: (step) => process.stdout.write(`${step}\n`),
  },
  hasNodes ? [...PROGRAM_KEYS, ...NODE_PROGRAM_KEYS] : PROGRAM_KEYS,
);
if (hasNodes) {
  await ensureMachinePrograms((step) => process.stdout.write(`${step}\n`));
  await ensureClusterPrograms(environment(), (step) => process.stdout.write(`${step}\n`));
}
await ensureVersitygw(environment(), (step) => process.stdout.write(`${step}\n`));
await ensureHelms(environment(), (step) => process.stdout.write(`${step}\n`));
await ensureDefinitions(environment(), (step) => process.stdout.write(`${step}\n`));
