/** Packages the chart, with the digests of the images in its values. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { writeArchive } from './archive.ts';

/** `sha256:…` of the manifest of each image, by its name. */
export type ImageDigests = Readonly<Record<'loopstream' | 'loopstream-prepare', string>>;

export interface ChartOptions {
  /** The chart's directory. */
  chart: string;
  /** For a copy of it; removed at the end. */
  workDir: string;
  file: string;
  digests: ImageDigests;
  /** Seconds since 1970. */
  epoch: number;
  signal?: AbortSignal | undefined;
}

const EMPTY = '  digest: ""\n';
/** Files that .helmignore leaves out of a package. */
const IGNORED = ['.helmignore', 'ci'];

/** Throws where values.yaml has other places for the digests. Comments stay. Pure. */
export function pinImages(values: string, digests: ImageDigests): string {
  const { loopstream, 'loopstream-prepare': prepare } = digests;
  const pinned = [loopstream, prepare].reduce((text, digest) => text.replace(EMPTY, `  digest: ${digest}\n`), values);
  const { image, prepareImage } = parse(pinned) as Record<'image' | 'prepareImage', { digest?: string } | undefined>;
  if (image?.digest !== loopstream || prepareImage?.digest !== prepare)
    throw new Error('values.yaml has no empty image.digest and prepareImage.digest to write the digests to.');
  return pinned;
}

/** Adds the digests to the images in the annotations for Artifact Hub. Throws where one is missing. Pure. */
export const pinAnnotations = (chart: string, digests: ImageDigests): string =>
  Object.entries(digests).reduce((text, [name, digest]) => {
    const pinned = text.replace(new RegExp(`^( +image: ${name}:\\S+)$`, 'm'), `$1@${digest}`);
    if (pinned === text) throw new Error(`Chart.yaml does not name the image ${name} in artifacthub.io/images.`);
    return pinned;
  }, chart);

export async function packageChart({ chart, workDir, file, digests, epoch, signal }: ChartOptions): Promise<void> {
  const { name } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as { name: string };
  const copy = join(workDir, name);
  cpSync(chart, copy, { recursive: true });
  for (const path of IGNORED) rmSync(join(copy, path), { recursive: true, force: true });
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(copy, path), change(readFileSync(join(copy, path), 'utf8')));
  edit('values.yaml', (text) => pinImages(text, digests));
  edit('Chart.yaml', (text) => pinAnnotations(text, digests));
  await writeArchive({ dir: workDir, file, epoch, gzip: true, names: [name], signal });
  rmSync(copy, { recursive: true });
}
