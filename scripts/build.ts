/**
 * Bundles the client into dist/client, the kubectl plugin into dist/kubectl, and the roles into dist/app. Packages that read
 * their own files at run time stay outside the bundle. They and their dependencies are copied to dist/node_modules, so that an image needs only dist/
 * and package.json.
 */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { buildApp, READ_THEIR_OWN_FILES } from './build-app.ts';
import { buildClient } from './build-client.ts';
import { buildKubectl } from './build-kubectl.ts';
import { mergeNotices, packageFolders, writeNotices } from './notices.ts';

/** Adds the folder of a package, found as Node finds it from `from`, and the folders of all that it depends on. */
function addPackage(name: string, from: string, found: Set<string>): void {
  const folder = join(from, 'node_modules', name);
  if (!existsSync(folder)) {
    if (from === '.') throw new Error(`The package ${name} is not installed. Run npm ci.`);
    addPackage(name, dirname(from), found);
    return;
  }
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {} }: { dependencies?: Record<string, string> } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  for (const dependency of Object.keys(dependencies)) addPackage(dependency, folder, found);
}

rmSync('dist/app', { recursive: true, force: true });
const metafile = await buildApp();
await buildClient('dist/client');
await buildKubectl();

const packages = new Set<string>();
for (const name of READ_THEIR_OWN_FILES) addPackage(name, '.', packages);
rmSync('dist/node_modules', { recursive: true, force: true });
for (const folder of packages) {
  // A nested folder is another package's copy: its own dependent brings it.
  const filter = (path: string) => !path.slice(folder.length).split(sep).includes('node_modules');
  cpSync(folder, join('dist', folder), { recursive: true, filter });
}
// An invoice has two fonts of the family.
for (const file of ['package.json', 'LICENSE', 'ttf/DejaVuSans.ttf', 'ttf/DejaVuSans-Bold.ttf'])
  cpSync(join('node_modules/dejavu-fonts-ttf', file), join('dist/node_modules/dejavu-fonts-ttf', file));

// All that an image carries: the roles, what lies beside them, Node itself, and the page, whose readers are given the same.
const DASHBOARD_NOTICES = 'dist/dashboard/third-party-notices.txt';
const beside = [...packages, 'node_modules/dejavu-fonts-ttf', `node_modules/node-linux-${process.arch}`];
const own = writeNotices([
  ...packageFolders(Object.keys(metafile.inputs)),
  ...beside.filter((folder) => existsSync(folder)),
]);
const all = mergeNotices([own, readFileSync(DASHBOARD_NOTICES, 'utf8')]);
for (const file of ['dist/THIRD_PARTY_NOTICES.txt', DASHBOARD_NOTICES]) writeFileSync(file, all);

const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
process.stdout.write(
  `dist/app: ${Object.keys(metafile.outputs).length} files, ${Math.round(bytes / 1024)} KiB; ${packages.size} packages beside it\n`,
);
