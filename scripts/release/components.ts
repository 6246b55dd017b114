/** Reads what an image is made of: Debian's packages, the programs of ffmpeg, Node, the C library of the launcher, and npm's packages. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Notice, readNotices, writeSections } from '../notices.ts';
import { runOrFail } from './command.ts';
import { type Component, debianPurl, npmPurl } from './sbom.ts';

export interface ComponentOptions {
  /** The directory that build-system made for the image. */
  system: string;
  /** The project's directory, with what `make build` made in it. */
  project: string;
  architecture: string;
}

const COPYRIGHT = 'usr/share/doc';
const SENDER = 'ffmpeg-send';

/** Name → expression of SPDX. */
export function parseImagePackages(text: string): Map<string, string> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const [name = '', , ...licence] = line.split(/\s+/);
      return [name, licence.join(' ')];
    }),
  );
}

const readField = (control: string, name: string): string => {
  const value = new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1];
  if (value === undefined) throw new Error(`A package of Debian says no ${name}.`);
  return value;
};

function readDebian({ system, project }: ComponentOptions): Component[] {
  const licences = parseImagePackages(readFileSync(join(project, 'scripts/image-packages'), 'utf8'));
  const dir = join(system, 'var/lib/dpkg/status.d');
  return readdirSync(dir)
    .filter((file) => !file.endsWith('.md5sums'))
    .sort()
    .map((file) => {
      const control = readFileSync(join(dir, file), 'utf8');
      const [name, version] = [readField(control, 'Package'), readField(control, 'Version')];
      return {
        name,
        version,
        licence: licences.get(name) ?? '',
        text: readFileSync(join(system, COPYRIGHT, name, 'copyright'), 'utf8'),
        purl: debianPurl(name, version, readField(control, 'Architecture')),
        comment: `The licence is that of its files in the image. /${COPYRIGHT}/${name}/copyright there says all of them.`,
      };
    });
}

/** Returns the notices of programs in the image; undefined where it has none of them. */
function readCopying(system: string, name: string): string | undefined {
  const file = join(system, COPYRIGHT, 'loopstream', name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

function readFfmpeg({ system }: ComponentOptions): Component[] {
  const text = readCopying(system, 'COPYING.ffmpeg');
  if (text === undefined) return [];
  const version = /source package ffmpeg (\S+) of Debian/.exec(text)?.[1];
  if (version === undefined) throw new Error('COPYING.ffmpeg does not say the version of ffmpeg.');
  const comment = 'The programs ffmpeg and ffprobe, made by scripts/build-ffmpeg of this source package of Debian.';
  const purl = debianPurl('ffmpeg', version, 'source');
  return [{ name: 'ffmpeg', version, licence: 'GPL-2.0-or-later', text, purl, comment }];
}

/** ffmpeg-send and the static libraries in it, by Debian's packages: its notices name them. */
function readSender({ system, architecture }: ComponentOptions): Component[] {
  return readNotices(readCopying(system, 'COPYING.ffmpeg-send') ?? '').map((notice) =>
    notice.name === SENDER
      ? { ...notice, purl: debianPurl('ffmpeg', notice.version, 'source'), comment: 'Made by scripts/build-sender.' }
      : {
          ...notice,
          purl: debianPurl(notice.name, notice.version, architecture),
          comment: `In ${SENDER}, a static program.`,
        },
  );
}

/** The launcher is linked to the C library of the machine that made it. */
async function readLauncher({ architecture }: ComponentOptions): Promise<Component> {
  const version = readField(await runOrFail('dpkg-query', ['--status', 'libc6-dev']), 'Version');
  const comment = 'In dist/confine, a static program.';
  const text = readFileSync('/usr/share/doc/libc6-dev/copyright', 'utf8');
  const purl = debianPurl('libc6-dev', version, architecture);
  return { name: 'libc6-dev', version, licence: 'LGPL-2.1-or-later', text, purl, comment };
}

function readNpm({ project }: ComponentOptions): Component[] {
  const notices = readNotices(readFileSync(join(project, 'dist/THIRD_PARTY_NOTICES.txt'), 'utf8'));
  return notices.map(({ name, version, licence, text }) => ({
    name,
    version,
    licence,
    text,
    purl: npmPurl(name, version),
  }));
}

export async function readComponents(options: ComponentOptions): Promise<Component[]> {
  return [
    ...readDebian(options),
    ...readFfmpeg(options),
    ...readSender(options),
    await readLauncher(options),
    ...readNpm(options),
  ];
}

/** Returns the notices of all, each with the text of its licence, in the order of their names. */
export const writeAllNotices = (components: readonly Component[]): string =>
  writeSections(
    components.map(({ name, version, licence, text }): Notice => ({ name, version, licence, text: text.trim() })),
  );
