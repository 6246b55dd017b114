/**
 * Provides the volumes of one pod as directories of this machine. emptyDir lives in the pod's directory, and hostPath
 * is the path itself, also behind a claim. The others are written there and updated when their source changes.
 */
import { createHash } from 'node:crypto';
import { mkdir, rm, stat, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../../src/core/kube/core.ts';
import { writeAtomically } from './atomic-dir.ts';
import type { PodAddress } from './environment.ts';
import type { Mount } from './paths.ts';
import type { Sources } from './sources.ts';
import { type Container, getSpec, type HostPath, type TokenItem, type Volume } from './types.ts';
import { type Files, isWritten, MountError, volumeFiles, volumeSources, volumeTokens } from './volume-content.ts';

function digest(files: Files): string {
  const hash = createHash('sha256');
  for (const [path, { data, mode }] of files) hash.update(`${path}\0${mode}\0${data.length}\0`).update(data);
  return hash.digest('hex');
}

const FILE_TYPES: Record<string, (is: { isDirectory(): boolean; isFile(): boolean }) => boolean> = {
  Directory: (is) => is.isDirectory(),
  File: (is) => is.isFile(),
};

export class PodVolumes {
  readonly #dir: string;
  readonly #sources: Sources;
  /** Volume → digest of what was last written. */
  readonly #written = new Map<string, string>();
  readonly #paths = new Map<string, string>();

  /** `dir` is the directory below which the pod's volumes are. */
  constructor(dir: string, sources: Sources) {
    this.#dir = dir;
    this.#sources = sources;
  }

  /** Whether the volumes can change without the pod's object changing. */
  static followsSources(pod: Pod): boolean {
    return (getSpec(pod).volumes ?? []).some(
      (volume) => volumeSources(volume).length > 0 || volumeTokens(volume).length > 0,
    );
  }

  /** Sets up every volume, or brings it up to date. Throws MountError, or KubeError when the API server cannot be asked. */
  async bringUpToDate(pod: Pod, address: PodAddress): Promise<void> {
    for (const volume of getSpec(pod).volumes ?? []) {
      try {
        this.#paths.set(volume.name, await this.#bring(volume, pod, address));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new MountError(`MountVolume.SetUp failed for volume "${volume.name}" : ${why}`, { cause: error });
      }
    }
  }

  /** Returns the real paths of the container's mounts. A missing part of a volume (subPath) becomes a directory. */
  async mounts(container: Container): Promise<Mount[]> {
    const mounts: Mount[] = [];
    const parts: (Mount & { subPath: string })[] = [];
    for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
      const path = this.#paths.get(name);
      if (!path) continue;
      const realPath = subPath ? join(path, subPath) : path;
      mounts.push({ mountPath, realPath });
      if (!subPath) continue;
      if (!(await stat(realPath).catch(() => undefined))) await mkdir(realPath, { recursive: true });
      parts.push({ mountPath, realPath, subPath });
    }
    return [...mounts, ...(await this.#views(container, mounts, parts))];
  }

  /**
   * Builds a directory of links for a volume of which only parts are mounted at their places under one path. Programs
   * get it as the path of the whole: it shows the parts, and nothing else.
   */
  async #views(
    container: Container,
    mounts: readonly Mount[],
    parts: readonly (Mount & { subPath: string })[],
  ): Promise<Mount[]> {
    const views = new Map<string, string>();
    for (const { mountPath, realPath, subPath } of parts) {
      const whole = mountPath.endsWith(`/${subPath}`) ? mountPath.slice(0, -subPath.length - 1) : '';
      if (whole === '' || mounts.some((mount) => mount.mountPath === whole)) continue;
      const view = join(dirname(this.#dir), '_views', container.name, whole);
      const link = join(view, subPath);
      await mkdir(dirname(link), { recursive: true, mode: 0o700 });
      await rm(link, { force: true });
      await symlink(realPath, link);
      views.set(whole, view);
    }
    return [...views].map(([mountPath, realPath]) => ({ mountPath, realPath }));
  }

  async #bring(volume: Volume, pod: Pod, address: PodAddress): Promise<string> {
    const dir = join(this.#dir, volume.name);
    if (volume.hostPath) return hostPath(volume.hostPath);
    if (volume.persistentVolumeClaim) {
      const { claimName } = volume.persistentVolumeClaim;
      return hostPath(await this.#sources.claimed(pod.metadata.namespace ?? '', claimName));
    }
    if (volume.emptyDir) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      return dir;
    }
    if (!isWritten(volume)) {
      const kind = Object.keys(volume).find((key) => key !== 'name');
      throw new MountError(`this node has no volumes of the kind ${kind}`);
    }
    const fresh = !this.#written.has(volume.name);
    const lookUp = await this.#sources.bytes(pod.metadata.namespace ?? '', volumeSources(volume), { fresh });
    const tokens = new Map<TokenItem, string>();
    for (const item of volumeTokens(volume)) tokens.set(item, await this.#sources.token(pod, volume.name, item));
    const files = volumeFiles(volume, pod, address, lookUp, tokens);
    const now = digest(files);
    if (this.#written.get(volume.name) !== now) {
      await writeAtomically(dir, files);
      this.#written.set(volume.name, now);
    }
    return dir;
  }
}

async function hostPath({ path, type = '' }: HostPath): Promise<string> {
  if (type === 'DirectoryOrCreate') await mkdir(path, { recursive: true, mode: 0o755 });
  const check = FILE_TYPES[type];
  if (check && !check(await stat(path))) throw new MountError(`hostPath type check failed: ${path} is not a ${type}`);
  return path;
}
