/**
 * Writes the image as an archive: a layout of OCI, which skopeo, crane, ctr and kind read, with the list that `docker load` reads
 * (https://github.com/opencontainers/image-spec/blob/v1.1.0/image-layout.md).
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { type Digests, writeArchive } from './archive.ts';
import { runOrFail } from './command.ts';
import type { Copy, Stage } from './stage.ts';

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';
const INDEX = 'application/vnd.oci.image.index.v1+json';

export interface ImageOptions {
  stage: Stage;
  /** The root directory of each stage that the image has files of. */
  roots: Readonly<Record<string, string>>;
  /** Empty, on the same file system as the roots; removed at the end. */
  workDir: string;
  file: string;
  /** `name:tag` */
  name: string;
  /** `amd64` or `arm64`, as Go calls them. */
  architecture: string;
  /** Seconds since 1970. */
  epoch: number;
  annotations: Record<string, string>;
  signal?: AbortSignal | undefined;
}

export interface Image {
  /** `sha256:…` of the manifest, by which a registry and a cluster know the image. */
  digest: string;
  /** The unpacked size of its files. */
  bytes: number;
}

/** The stage that keeps its permissions, since Debian's packages say them. */
const SYSTEM = 'system';

/** Puts the files of a COPY where they are in the image, below a directory of their own. */
async function placeCopy({ source, target }: Copy, root: string, dir: string, signal: AbortSignal | undefined) {
  const from = join(root, source);
  if (statSync(from).isDirectory()) {
    mkdirSync(join(dir, target), { recursive: true });
    await runOrFail('cp', ['--archive', '--link', `${from}/.`, join(dir, target)], { signal });
    return;
  }
  const to = join(dir, target.endsWith('/') ? join(target, basename(source)) : target);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}

export async function writeImage(options: ImageOptions): Promise<Image> {
  const { stage, roots, workDir, file, name, architecture, epoch, annotations, signal } = options;
  const layout = join(workDir, 'layout');
  const blobs = join(layout, 'blobs/sha256');
  mkdirSync(blobs, { recursive: true });
  const created = new Date(epoch * 1000).toISOString().replace('.000Z', 'Z');
  const writeBlob = (value: unknown) => {
    const text = Buffer.from(JSON.stringify(value));
    const hash = createHash('sha256').update(text).digest('hex');
    writeFileSync(join(blobs, hash), text);
    return { digest: `sha256:${hash}`, size: text.length };
  };

  const layers: Digests[] = [];
  let bytes = 0;
  for (const [index, copy] of stage.copies.entries()) {
    const root = roots[copy.stage];
    if (root === undefined)
      throw new Error(`The Dockerfile copies from the stage ${copy.stage}, which is not built here.`);
    const dir = join(workDir, `layer-${index}`);
    await placeCopy(copy, root, dir, signal);
    bytes += Number((await runOrFail('du', ['-sb', dir], { signal })).split('\t')[0]);
    const packed = join(workDir, 'layer.tar.gz');
    const layer = await writeArchive({
      dir,
      file: packed,
      epoch,
      gzip: true,
      keepsModes: copy.stage === SYSTEM,
      signal,
    });
    renameSync(packed, join(blobs, layer.digest.replace('sha256:', '')));
    rmSync(dir, { recursive: true });
    layers.push(layer);
  }

  const config = writeBlob({
    created,
    architecture,
    os: 'linux',
    config: stage.config,
    rootfs: { type: 'layers', diff_ids: layers.map(({ content }) => content) },
    history: stage.copies.map(({ stage: from, source, target }) => ({
      created,
      created_by: `COPY --from=${from} ${source} ${target}`,
    })),
  });
  const manifest = writeBlob({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: { mediaType: CONFIG, ...config },
    layers: layers.map(({ digest, bytes: size }) => ({ mediaType: LAYER, digest, size })),
    annotations: { 'org.opencontainers.image.created': created, ...annotations },
  });
  const json = (path: string, value: unknown) => writeFileSync(join(layout, path), `${JSON.stringify(value)}\n`);
  const names = {
    'io.containerd.image.name': `docker.io/library/${name}`,
    'org.opencontainers.image.ref.name': name.split(':').at(-1),
  };
  const platform = { architecture, os: 'linux' };
  json('oci-layout', { imageLayoutVersion: '1.0.0' });
  json('index.json', {
    schemaVersion: 2,
    mediaType: INDEX,
    manifests: [{ mediaType: MANIFEST, ...manifest, platform, annotations: names }],
  });
  const path = (digest: string) => `blobs/${digest.replace(':', '/')}`;
  json('manifest.json', [
    { Config: path(config.digest), RepoTags: [name], Layers: layers.map(({ digest }) => path(digest)) },
  ]);
  await writeArchive({
    dir: layout,
    file,
    epoch,
    gzip: false,
    names: ['oci-layout', 'index.json', 'manifest.json', 'blobs'],
    signal,
  });
  rmSync(layout, { recursive: true });
  return { digest: manifest.digest, bytes };
}
