/**
 * Starts the browser that pictures of pages are taken with: the same program, the same fonts and the same drawing on every machine. A
 * package of npm has the program, and the fonts are those of another; the system's are not looked at.
 */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';
import { type Browser, chromium } from 'playwright-core';

const ROOT = join(import.meta.dirname, '../../..');
const CACHE = join(ROOT, 'node_modules/.cache/loopstream/looks');
const FONTS = join(ROOT, 'node_modules/dejavu-fonts-ttf/ttf');

const ARGS = [
  ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--hide-scrollbars'],
  // Neither the machine's screen nor the instructions of its processor change a pixel.
  ...['--font-render-hinting=none', '--disable-lcd-text', '--force-color-profile=srgb', '--disable-skia-runtime-opts'],
];

/**
 * DejaVu stands for each family that a page asks for: no machine draws letters of its own. Letters have no grey edges, which makes a kept
 * picture three times smaller.
 */
const FONT_CONFIG = `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${FONTS}</dir>
  <cachedir>${CACHE}/fontconfig</cachedir>
  <match target="pattern">
    <test name="family" compare="contains"><string>mono</string></test>
    <edit name="family" mode="assign" binding="strong"><string>DejaVu Sans Mono</string></edit>
  </match>
  <match target="pattern">
    <test name="family" compare="not_contains"><string>Mono</string></test>
    <edit name="family" mode="assign" binding="strong"><string>DejaVu Sans</string></edit>
  </match>
  <match target="font">
    <edit name="antialias" mode="assign"><bool>false</bool></edit>
    <edit name="hinting" mode="assign"><bool>false</bool></edit>
    <edit name="rgba" mode="assign"><const>none</const></edit>
  </match>
</fontconfig>
`;

/** Unpacks the program of the package once for each of its versions, and returns its path. */
async function unpackProgram(): Promise<string> {
  const main = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const packageDir = join(dirname(main), '..');
  const { version } = JSON.parse(await readFile(join(packageDir, 'package.json'), 'utf8')) as { version: string };
  const program = join(CACHE, `chromium-${version}`);
  if (existsSync(program)) return program;
  await mkdir(CACHE, { recursive: true });
  const packed = await readFile(join(packageDir, 'bin/chromium.br'));
  const half = `${program}.${process.pid}`;
  await writeFile(half, await promisify(brotliDecompress)(packed), { mode: 0o755 });
  await rename(half, program);
  return program;
}

export async function launchLooksBrowser(): Promise<Browser> {
  const executablePath = await unpackProgram();
  const fontConfig = join(CACHE, 'fonts.conf');
  await writeFile(fontConfig, FONT_CONFIG);
  return chromium.launch({ executablePath, args: ARGS, env: { ...process.env, FONTCONFIG_FILE: fontConfig } });
}
