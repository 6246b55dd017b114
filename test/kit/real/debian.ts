/** A Debian in a directory, for images with no registry. */
import { must } from './cluster/command.ts';

const SUITE = 'bookworm';
const TIMEOUT_MS = 15 * 60_000;
/** Nobody needs it after a power loss. Nothing in it is started while packages are installed: mmdebstrap sees to that. */
const HOW = ['--variant=minbase', '--format=directory', '--dpkgopt=force-unsafe-io'];

/** What such a directory is made by, for names that tell what is in an image. */
export const DEBIAN_RECIPE = [SUITE, ...HOW];

/** Makes it, of the essential packages, apt and those named. mmdebstrap takes half of debootstrap's processor time. */
export const makeDebian = (root: string, packages: readonly string[]): Promise<string> =>
  must('mmdebstrap', [...HOW, `--include=${packages.join(',')}`, SUITE, root], { timeoutMs: TIMEOUT_MS });
