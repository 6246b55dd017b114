/** Makes a Debian in a directory, for images without a registry. */
import { runOrThrow } from './cluster/command.ts';

const SUITE = 'bookworm';
const TIMEOUT_MS = 15 * 60_000;
/** The directory need not survive a power loss. mmdebstrap prevents that packages start services during installation. */
const HOW = ['--variant=minbase', '--format=directory', '--dpkgopt=force-unsafe-io'];

/** The recipe of such a directory, for the names of images. */
export const DEBIAN_RECIPE = [SUITE, ...HOW];

/** Makes it from the essential packages, apt and `packages`. mmdebstrap takes half of debootstrap's processor time. */
export const makeDebian = (root: string, packages: readonly string[]): Promise<string> =>
  runOrThrow('mmdebstrap', [...HOW, `--include=${packages.join(',')}`, SUITE, root], { timeoutMs: TIMEOUT_MS });
