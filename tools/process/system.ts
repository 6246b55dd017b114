/** Reads the name of the machine's operating system. Pure. */

/** Parses os-release(5): `suite` is the release's code name, empty where it has none; `name` is for people. */
export function readSystem(osRelease: string): { suite: string; name: string } {
  const read = (key: string) => new RegExp(`^${key}="?([^"\\n]*)"?$`, 'm').exec(osRelease)?.[1] ?? '';
  return { suite: read('VERSION_CODENAME'), name: read('PRETTY_NAME') || 'an unknown system' };
}

/** The release of Debian whose packages the image has, and whose compiler and libraries its programs are built with. */
export const SUITE = 'bookworm';
