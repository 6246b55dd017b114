/**
 * Makes the image of a node of kind without a registry: a Debian with systemd and containerd, the files of kind's own image, and the
 * programs of Kubernetes that the tests have anyway. Pods are on a bridge of the only node. The cache keeps it as an archive, whose name is
 * a hash of its sources.
 */
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { environment } from '../../../../src/core/settings/environment.ts';
import { withModules } from '../../../../tools/control-plane/gobuild.ts';
import { KUBERNETES_VERSION } from '../../../../tools/control-plane/programs.ts';
import { withFileLock } from '../../../../tools/process/filelock.ts';
import { importImages } from '../cluster/cluster.ts';
import { runOrThrow } from '../cluster/command.ts';
import { takeDown } from '../cluster/down.ts';
import { clusterLayout } from '../cluster/layout.ts';
import { ensureClusterPrograms } from '../cluster/programs.ts';
import { DEBIAN_RECIPE, makeDebian } from '../debian.ts';

const VERSION = /sigs\.k8s\.io\/kind (v[\d.]+)/.exec(readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8'))?.[1];
const TIMEOUT_MS = 10 * 60_000;
/** Of kind's own image, without those of network storage, and with the ones that it builds from their sources. */
const PACKAGES = [
  ...['systemd', 'dbus', 'conntrack', 'iptables', 'nftables', 'iproute2', 'ethtool', 'mount', 'kmod', 'procps', 'jq'],
  ...['containerd', 'runc', 'containernetworking-plugins'],
];
/** Paths that no program reads at run time. */
const NEEDLESS = ['var/cache/apt', 'var/lib/apt/lists', 'usr/share/doc', 'usr/share/man', 'usr/share/locale'];
/** Services that a node of kind does not start. */
const UNWANTED = [
  'lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service',
  ...['multi-user', 'local-fs', 'basic'].map((target) => `lib/systemd/system/${target}.target.wants/*`),
  ...['udev', 'initctl'].map((name) => `lib/systemd/system/sockets.target.wants/*${name}*`),
  'etc/systemd/system/*.wants',
];
/** The pods of the only node. */
const NETWORK = {
  cniVersion: '0.4.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'pods0',
      isGateway: true,
      hairpinMode: true,
      ipMasq: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]], routes: [{ dst: '0.0.0.0/0' }] },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
};
/** kind applies both; the node has a network already, and the tests claim no storage of a class. */
const MANIFESTS = {
  'default-cni.yaml': { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'network', namespace: 'kube-system' } },
  'default-storage.yaml': {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'standard' },
    provisioner: 'kubernetes.io/no-provisioner',
  },
};
/** Instructions of the image. In the hybrid layout of cgroups, systemd hides the cgroups of kubelet from it. */
export const NODE_CHANGES = [
  'ENV container=docker',
  `ENTRYPOINT ${JSON.stringify([
    ...['/usr/local/bin/entrypoint', '/sbin/init'],
    ...['systemd.unified_cgroup_hierarchy=0', 'systemd.legacy_systemd_cgroup_controller=1'],
  ])}`,
];

const sources = createHash('sha256').update(
  JSON.stringify([VERSION, KUBERNETES_VERSION, DEBIAN_RECIPE, PACKAGES, NEEDLESS, UNWANTED, NETWORK, NODE_CHANGES]),
);
for (const file of [import.meta.filename, join(import.meta.dirname, '../../../../tools/control-plane/coredns/main.go')])
  sources.update(readFileSync(file));
const HASH = sources.digest('hex').slice(0, 16);
export const NODE_IMAGE = `loopstream-kind-node:${HASH}`;

export const nodeArchive = (cacheDir: string): string => join(resolve(cacheDir), 'kind', `node-${HASH}.tar`);

type Programs = Awaited<ReturnType<typeof ensureClusterPrograms>>;

/** Makes the archive unless it is there, in a minute. */
export async function ensureNodeArchive(cacheDir: string, onProgress: (step: string) => void): Promise<void> {
  const archive = nodeArchive(cacheDir);
  if (existsSync(archive)) return;
  const programs = await ensureClusterPrograms(onProgress);
  const dir = dirname(archive);
  mkdirSync(dir, { recursive: true });
  await withFileLock(join(dir, 'node.lock'), async () => {
    if (existsSync(archive)) return;
    for (const earlier of globSync(join(dir, 'node-*.tar'))) rmSync(earlier);
    onProgress('making a node of kind (mmdebstrap)');
    const root = join(dir, 'root');
    rmSync(root, { recursive: true, force: true });
    await makeDebian(root, PACKAGES);
    await addFilesOfKind(root, dir, onProgress);
    addPrograms(root, programs);
    await configure(root);
    await addImages(root, dir, programs, cacheDir);
    await runOrThrow('tar', ['-C', root, '--one-file-system', '-cf', `${archive}.partial`, '.'], {
      timeoutMs: TIMEOUT_MS,
    });
    renameSync(`${archive}.partial`, archive);
    rmSync(root, { recursive: true });
  });
}

function write(root: string, path: string, content: string | object): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
}

async function addFilesOfKind(root: string, dir: string, onProgress: (step: string) => void): Promise<void> {
  const options = { dir, name: 'the files of kind', env: environment(), onProgress };
  await withModules([`sigs.k8s.io/kind@${VERSION}`], options, ([module]) => {
    if (!module) throw new Error('The module of kind could not be fetched.');
    // The cache of modules can only be read.
    cpSync(join(module.Dir, 'images/base/files'), root, { recursive: true, verbatimSymlinks: true });
  });
  for (const path of globSync(['usr/local/bin/*', 'kind', 'kind/bin', 'kind/bin/*'], { cwd: root }))
    chmodSync(join(root, path), 0o755);
  for (const path of globSync(['etc/systemd/system/*', 'etc/containerd/*'], { cwd: root }))
    if (path.includes('.')) chmodSync(join(root, path), path.endsWith('.d') ? 0o755 : 0o644);
}

function addPrograms(root: string, { kubernetes }: Programs): void {
  for (const name of ['kubelet', 'kubeadm', 'kubectl'] as const) cpSync(kubernetes[name], join(root, 'usr/bin', name));
  // kind's units have the paths of its own builds.
  for (const name of ['containerd', 'containerd-shim-runc-v2', 'ctr'])
    symlinkSync(`/usr/bin/${name}`, join(root, 'usr/local/bin', name));
  mkdirSync(join(root, 'opt/cni'), { recursive: true });
  symlinkSync('/usr/lib/cni', join(root, 'opt/cni/bin'));
}

const inside = (root: string, command: string[]): Promise<string> =>
  runOrThrow('chroot', [root, ...command], { env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' } });

function edit(root: string, path: string, change: (text: string) => string): void {
  const file = join(root, path);
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

async function configure(root: string): Promise<void> {
  for (const path of globSync(UNWANTED, { cwd: root })) rmSync(join(root, path), { recursive: true });
  for (const path of NEEDLESS) rmSync(join(root, path), { recursive: true, force: true });
  write(root, 'kind/version', `v${KUBERNETES_VERSION}`);
  write(root, 'etc/cni/net.d/10-pods.conflist', NETWORK);
  mkdirSync(join(root, 'etc/kubernetes/manifests'), { recursive: true });
  for (const [name, manifest] of Object.entries(MANIFESTS)) write(root, `kind/manifests/${name}`, manifest);
  appendFileSync(join(root, 'etc/systemd/journald.conf'), 'ReadKMsg=no\n');
  rmSync(join(root, 'sbin/init'), { force: true });
  symlinkSync('/usr/lib/systemd/systemd', join(root, 'sbin/init'));
  // Neither raises a limit nor lowers an OOM score, which takes a capability that not every machine has.
  edit(root, 'etc/systemd/system/containerd.service', (text) =>
    text.replaceAll(/^(OOMScoreAdjust|Limit\w+)=.*\n/gm, ''),
  );
  edit(root, 'etc/containerd/config.toml', (text) =>
    text.replace(/restrict_oom_score_adj = false/, 'restrict_oom_score_adj = true'),
  );
  await inside(root, ['systemctl', 'enable', 'kubelet', 'containerd', 'undo-mount-hacks']);
  // It would register binary formats with the machine's kernel.
  await inside(root, ['systemctl', 'mask', 'systemd-binfmt']);
  const { hooks, process, ...spec } = JSON.parse(await inside(root, ['ctr', 'oci', 'spec']));
  delete process.rlimits;
  const createContainer = [{ path: '/kind/bin/mount-product-files.sh' }];
  write(root, 'etc/containerd/cri-base.json', { ...spec, process, hooks: { ...hooks, createContainer } });
}

/** Fills the node's containerd with the images that kubeadm asks for. They share one layer, which has every program. */
async function addImages(root: string, dir: string, programs: Programs, cacheDir: string): Promise<void> {
  const { kubernetes, pause } = programs;
  const layer = join(dir, 'layer');
  rmSync(layer, { recursive: true, force: true });
  const bin = join(layer, 'usr/local/bin');
  for (const file of [
    kubernetes.kubeApiserver,
    kubernetes.kubeControllerManager,
    kubernetes.kubeScheduler,
    kubernetes.kubeProxy,
    kubernetes.etcd,
    kubernetes.coreDns,
    pause,
  ])
    cpSync(file, join(bin, file.slice(file.lastIndexOf('/') + 1)));
  await addIptables(root, layer);
  const wanted = (
    await runOrThrow(kubernetes.kubeadm, ['config', 'images', 'list', '--kubernetes-version', `v${KUBERNETES_VERSION}`])
  )
    .trim()
    .split('\n');
  const [, sandbox = ''] =
    /sandbox_image = "(.*)"/.exec(readFileSync(join(root, 'etc/containerd/config.toml'), 'utf8')) ?? [];
  const archive = join(dir, 'images.tar');
  await writeArchive(dir, layer, archive, [...new Set([...wanted, sandbox])]);
  const layout = clusterLayout(cacheDir);
  const store = join(root, 'var/lib/containerd');
  rmSync(store, { recursive: true, force: true });
  mkdirSync(store, { recursive: true });
  await withFileLock(layout.lockFile, async () => {
    try {
      await importImages(layout, store, [{ file: archive, names: [] }]);
    } finally {
      await takeDown(layout);
    }
  });
  for (const path of [layer, archive]) rmSync(path, { recursive: true });
}

/** kube-proxy calls iptables, which loads its libraries and extensions. */
async function addIptables(root: string, layer: string): Promise<void> {
  const program = '/usr/sbin/xtables-nft-multi';
  const extensions = '/usr/lib/x86_64-linux-gnu/xtables'.replace(
    'x86_64',
    process.arch === 'arm64' ? 'aarch64' : 'x86_64',
  );
  const loaded = await inside(root, ['sh', '-c', `ldd ${program} ${extensions}/*.so | grep -o '/[^ :]*' | sort -u`]);
  const libraries = loaded.split('\n').filter((path) => /\.so[.\d]*$/.test(path) && !path.startsWith(extensions));
  const copy = (how: string, paths: string[]) =>
    runOrThrow('cp', [how, '--parents', ...paths.map((path) => `.${path}`), layer], { cwd: root });
  await copy('--dereference', [program, ...libraries]);
  // Some extensions are links to others.
  await copy('--archive', [extensions]);
  for (const family of ['iptables', 'ip6tables'])
    for (const name of ['', '-save', '-restore'])
      symlinkSync('xtables-nft-multi', join(layer, 'usr/sbin', `${family}${name}`));
}

/** Writes images of one layer as an archive of Docker's. */
async function writeArchive(dir: string, layer: string, archive: string, names: readonly string[]): Promise<void> {
  const work = join(dir, 'images');
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work);
  const tar = (...words: string[]) =>
    runOrThrow('tar', ['--owner=0', '--group=0', ...words], { timeoutMs: TIMEOUT_MS });
  await tar('-C', layer, '-cf', join(work, 'layer.tar'), '.');
  const [digest = ''] = (await runOrThrow('sha256sum', [join(work, 'layer.tar')])).split(' ');
  const manifest = names.map((name, index) => {
    const [, program = ''] = /\/(pause|coredns):/.exec(name) ?? [];
    const config = {
      Env: ['PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'],
      // kubeadm's manifests give the other ones a command.
      ...(program && { Entrypoint: [program] }),
    };
    const rootfs = { type: 'layers', diff_ids: [`sha256:${digest}`] };
    write(work, `${index}.json`, {
      architecture: process.arch === 'x64' ? 'amd64' : process.arch,
      os: 'linux',
      config,
      rootfs,
    });
    return { Config: `${index}.json`, RepoTags: [name], Layers: ['layer.tar'] };
  });
  write(work, 'manifest.json', manifest);
  await tar('-C', work, '-cf', archive, '.');
  rmSync(work, { recursive: true });
}
