/** Installs the programs that only tests need: an independent RTMP receiver, a browser, jq for the README's commands. */
import { environment } from '../src/config.ts';
import { ensurePrograms } from '../src/local/preflight.ts';

const RTMP_MODULE = '/usr/lib/nginx/modules/ngx_rtmp_module.so';

await ensurePrograms(
  [
    { command: 'ffmpeg', aptPackage: 'ffmpeg' },
    { command: 'openssl', aptPackage: 'openssl' },
    { command: 'nginx', aptPackage: 'nginx' },
    { file: RTMP_MODULE, aptPackage: 'libnginx-mod-rtmp' },
    { command: 'chromium', aptPackage: 'chromium' },
    { command: 'jq', aptPackage: 'jq' },
    { command: 'curl', aptPackage: 'curl' },
  ],
  { env: environment(), onProgress: (step) => process.stdout.write(`${step}\n`) },
);
