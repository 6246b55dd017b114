/** Installs the programs that only tests need: an independent RTMP receiver and a browser. */
import { ensurePrograms } from '../src/local/preflight.ts';

await ensurePrograms(
  [
    { command: 'ffmpeg', aptPackage: 'ffmpeg' },
    { command: 'nginx', aptPackage: 'nginx' },
    { file: '/usr/lib/nginx/modules/ngx_rtmp_module.so', aptPackage: 'libnginx-mod-rtmp' },
    { command: 'chromium', aptPackage: 'chromium' },
  ],
  { onProgress: (step: string) => process.stdout.write(`${step}\n`) },
);
