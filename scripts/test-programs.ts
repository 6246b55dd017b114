/**
 * Provides the programs that tests need: an independent RTMP receiver, a browser, jq for the README's commands, Redis, the
 * Kubernetes control plane, Helm, an S3 server and schemathesis, whose first builds take longer than a test may. It also
 * provides a Docker engine with the base images of Redis and Postgres.
 *
 *     test-programs.ts packages   Debian's packages alone, which the unit tests need
 *     test-programs.ts all
 */
import { environment } from '../src/core/settings/environment.ts';
import { ensureChartChecks } from '../test/kit/real/chart-checks/programs.ts';
import { ensureImageBases } from '../test/kit/real/cluster/images.ts';
import { clusterLayout } from '../test/kit/real/cluster/layout.ts';
import { MACHINE_PROGRAMS, whyNot } from '../test/kit/real/cluster/programs.ts';
import { ensureServersArchive } from '../test/kit/real/engine/image.ts';
import { enginePrograms, whyNoEngine } from '../test/kit/real/engine/programs.ts';
import {
  ensureEnforcer,
  ensureFlux,
  ensureGoPrograms,
  ensureHealth,
  ensureOtlp,
  ensureRtmpLogin,
} from '../test/kit/real/go-programs.ts';
import { ensureDefinitions } from '../test/kit/real/helm/definitions.ts';
import { ensureHelms } from '../test/kit/real/helm/program.ts';
import { ensureSpdxValidator } from '../test/kit/real/release/validator.ts';
import { ensureSchemathesis } from '../test/kit/real/schemathesis/program.ts';
import { ensureBinaries } from '../tools/control-plane/binaries.ts';
import { NODE_PROGRAM_KEYS, PROGRAM_KEYS } from '../tools/control-plane/programs.ts';
import { DRAW_TEXT, ensureCompiled, SENDER, whyNotCompiled } from '../tools/process/compiled.ts';
import { localEnvironment } from '../tools/process/environment.ts';
import { ensurePrograms, type NeededProgram } from '../tools/process/preflight.ts';

const say = (step: string) => void process.stdout.write(`${step}\n`);
const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

const [scope] = process.argv.slice(2);
const { cacheDir, kubebuilderAssets } = localEnvironment();
const hasNodes = (await whyNot()) === undefined;

/** Where that cannot be, Debian's own Postgres and Redis are used, and the lanes say why. */
const canHaveEngine = (await whyNoEngine()) === undefined && environment().LOOPSTREAM_TEST_SERVERS !== 'processes';

/** The fonts of scripts/image-fonts, and what draw-text is compiled with. */
const DRAWING: readonly NeededProgram[] = [
  { file: '/usr/include/pango-1.0/pango/pangocairo.h', aptPackage: 'libpango1.0-dev' },
  { file: '/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf', aptPackage: 'fonts-noto-core' },
  { file: '/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf', aptPackage: 'fonts-noto-mono' },
  { file: '/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf', aptPackage: 'fonts-noto-color-emoji' },
  { file: '/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc', aptPackage: 'fonts-noto-cjk' },
];

/** Of Debian. */
const PACKAGED: readonly NeededProgram[] = [
  { command: 'ffmpeg', aptPackage: 'ffmpeg' },
  { command: 'openssl', aptPackage: 'openssl' },
  { command: 'nginx', aptPackage: 'nginx' },
  { file: RTMP_MODULE, aptPackage: 'libnginx-mod-rtmp' },
  { command: 'stunnel', aptPackage: 'stunnel4' },
  { command: 'chromium-headless-shell', aptPackage: 'chromium-headless-shell' },
  { command: 'jq', aptPackage: 'jq' },
  { command: 'curl', aptPackage: 'curl' },
  { command: 'xmllint', aptPackage: 'libxml2-utils' },
  { command: 'promtool', aptPackage: 'prometheus' },
  { command: 'amtool', aptPackage: 'prometheus-alertmanager' },
  { command: 'redis-server', aptPackage: 'redis-server' },
];

async function ensurePackages(): Promise<void> {
  const ofNodes = hasNodes ? MACHINE_PROGRAMS : [];
  const ofEngine = canHaveEngine ? await enginePrograms() : [];
  await ensurePrograms([...PACKAGED, ...DRAWING, ...ofNodes, ...ofEngine], { env: environment(), onProgress: say });
}

/** In one go, where the node's programs are wanted too: most of them is the same code. */
const ensureKubernetes = () =>
  ensureBinaries(
    { cacheDir, assetsDir: kubebuilderAssets, env: environment(), onProgress: say },
    hasNodes ? [...PROGRAM_KEYS, ...NODE_PROGRAM_KEYS] : PROGRAM_KEYS,
  );

async function ensureAll(): Promise<void> {
  const packages = ensurePackages();
  // Some of it waits for the network, some is unpacked by one process, and what is left fills the processors meanwhile.
  await Promise.all([
    packages,
    ensureKubernetes(),
    ensureGoPrograms(say),
    ensureRtmpLogin(say),
    ensureHealth(say),
    ensureOtlp(say),
    ensureFlux(say),
    hasNodes && ensureEnforcer(say),
    ensureHelms(say),
    ensureDefinitions(environment(), say),
    ensureSchemathesis(say),
    ensureChartChecks(say),
    hasNodes && ensureSpdxValidator(say),
    packages.then(async () => {
      await Promise.all([
        whyNotCompiled(SENDER) === undefined && ensureCompiled(SENDER, { onProgress: say }),
        whyNotCompiled(DRAW_TEXT) === undefined && ensureCompiled(DRAW_TEXT, { onProgress: say }),
        hasNodes && ensureImageBases(clusterLayout(cacheDir), say),
        canHaveEngine && ensureServersArchive(cacheDir, say),
      ]);
    }),
  ]);
}

await (scope === 'packages' ? ensurePackages() : ensureAll());
