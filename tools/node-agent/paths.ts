/**
 * Replaces mounts without mount namespaces. A container is a plain process here, so `/media` of a volumeMount does not
 * exist for it. A mountPath at the beginning of a path in the container's command, args and environment values is
 * therefore replaced with the volume's real directory.
 *
 * That reaches bare paths (`/media/a.mp4`), URLs without a host (`file:///media/a.mp4`), lists (`/bin:/media`), options
 * (`--dir=/media`) and paths inside JSON strings. It does not reach paths that a program makes up itself or reads from
 * a file, nor `-I/media` (a letter before the slash). A volume mounted at `/` is not rewritten at all. Pure: no I/O, no
 * clock.
 */

export interface Mount {
  /** Path as the container's spec names it, absolute. */
  mountPath: string;
  /** The real directory. */
  realPath: string;
}

/** Before a mount path: the beginning, a URL scheme with an empty host, or anything that cannot be part of a path. */
const BEFORE = '(?<=^|[a-z][a-z0-9+.-]*://|[^\\w.~%@/-])';
/** After a mount path: the end, a slash, or anything that cannot continue a file name. */
const AFTER = '(?=$|[^\\w.~%@-])';

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

const withoutTrailingSlash = (path: string): string => path.replace(/\/+$/, '');

/** Makes the function that rewrites one text. Longer mount paths win, and what was put in is not rewritten again. */
export function pathRewriter(mounts: readonly Mount[]): (text: string) => string {
  const real = new Map<string, string>();
  for (const mount of mounts) {
    const mountPath = withoutTrailingSlash(mount.mountPath);
    if (mountPath !== '') real.set(mountPath, withoutTrailingSlash(mount.realPath));
  }
  if (real.size === 0) return (text) => text;
  const longestFirst = [...real.keys()].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(`${BEFORE}(?:${longestFirst.map(escapeRegExp).join('|')})${AFTER}`, 'gi');
  // The flag i is there for the scheme alone (RFC 3986 3.1); paths keep their case.
  return (text) => text.replace(pattern, (found) => real.get(found) ?? found);
}
