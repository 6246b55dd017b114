/** Packages the chart, with the digest of the image in its values. */
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { writeArchive } from './archive.ts';

export interface ChartOptions {
  /** The chart's directory. */
  chart: string;
  /** For a copy of it; removed at the end. */
  workDir: string;
  file: string;
  /** `sha256:…` of the image's manifest. */
  digest: string;
  /** Seconds since 1970. */
  epoch: number;
  signal?: AbortSignal | undefined;
}

const EMPTY = '  digest: ""\n';
/** Files that .helmignore leaves out of a package. */
const IGNORED = ['.helmignore', 'ci'];

/** Throws where values.yaml has another place for the digest. Comments stay. Pure. */
export function pinImage(values: string, digest: string): string {
  const pinned = values.replace(EMPTY, `  digest: ${digest}\n`);
  const image = (parse(pinned) as { image?: { digest?: string } }).image;
  if (image?.digest !== digest) throw new Error('values.yaml has no empty image.digest to write the digest to.');
  return pinned;
}

/** Adds the digest to the image in the annotations for Artifact Hub. Throws where there is none. Pure. */
export function pinAnnotation(chart: string, digest: string): string {
  const pinned = chart.replace(/^( +image: \S+:\S+)$/m, `$1@${digest}`);
  if (pinned === chart) throw new Error('Chart.yaml names no image in artifacthub.io/images.');
  return pinned;
}

export async function packageChart({ chart, workDir, file, digest, epoch, signal }: ChartOptions): Promise<void> {
  const { name } = parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8')) as { name: string };
  const copy = join(workDir, name);
  cpSync(chart, copy, { recursive: true });
  for (const path of IGNORED) rmSync(join(copy, path), { recursive: true, force: true });
  const edit = (path: string, change: (text: string) => string) =>
    writeFileSync(join(copy, path), change(readFileSync(join(copy, path), 'utf8')));
  edit('values.yaml', (text) => pinImage(text, digest));
  edit('Chart.yaml', (text) => pinAnnotation(text, digest));
  await writeArchive({ dir: workDir, file, epoch, gzip: true, names: [name], signal });
  rmSync(copy, { recursive: true });
}
