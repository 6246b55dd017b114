/**
 * Gives the sources of another namespace or installation to the Uploads here that have the same name and account. Only records change: the
 * import of each Upload then checks its source to the last byte. Staff run it, since no label proves who owned an Upload elsewhere.
 */
import type { Kube } from '../../kube/types.ts';
import { kubeTime } from '../../lib/clock.ts';
import { listRecords, readOwner, readRecord, writeOwner, writeRecord } from '../../pods/records/store.ts';
import type { Storage } from '../../pods/storage/storage.ts';
import { isRecordOf, type RecordKey, recordKey, type UploadRecord } from '../../protocol/records.ts';
import { RETRY_ANNOTATION } from '../../resources/common/names.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { isArriving } from '../../resources/upload/spec.ts';
import { buildIdentity, dropForeignStatus } from '../upload/records.ts';
import { RefusedError } from './refused.ts';

export interface AdoptOptions {
  /** Namespaces. */
  from: string;
  to: string;
  /** UID of kube-system in the cluster here. */
  installation: string;
  /** Installation that wrote the records; by default the only one with records of `from`. */
  fromInstallation?: string | undefined;
  /** Staff say that the other installation is gone. */
  takeOver?: boolean;
  dryRun?: boolean;
  now: Date;
  onProgress: (line: string) => void;
}

export interface Adopted {
  adopted: number;
  /** Their Uploads have them already. */
  done: number;
  refused: number;
}

interface Known {
  key: RecordKey;
  record: UploadRecord;
  writtenAt: Date;
}
type Found = Known & ({ fate: 'adopted' | 'done'; upload: Upload } | { fate: 'done' | 'refused'; note: string });

/** Reads the records of a namespace, the latest first. Rejects with StorageError. */
async function readRecords(storage: Storage, namespace: string): Promise<Known[]> {
  const known: Known[] = [];
  for await (const key of listRecords(storage)) {
    const record = await readRecord(storage, key.key);
    const object = record?.namespace === namespace ? await storage.head(key.key) : undefined;
    if (record && object) known.push({ key, record, writtenAt: object.modifiedAt });
  }
  return known.sort((a, b) => b.writtenAt.getTime() - a.writtenAt.getTime());
}

/** Returns the installation of the records. Throws RefusedError where it is not clear. */
function findSource(known: readonly Known[], { from, to, installation, fromInstallation }: AdoptOptions): string {
  if (from === to && fromInstallation === installation)
    throw new RefusedError(`Uploads of ${to} find the sources of this installation by themselves.`);
  const all = new Set(known.map(({ record }) => record.installation));
  if (from === to) all.delete(installation);
  const named = fromInstallation === undefined || all.has(fromInstallation);
  const found = fromInstallation ?? [...all].join(', ');
  if (all.size === 0 || !named)
    throw new RefusedError(
      `The storage has no record of an upload of namespace ${from} in ${fromInstallation ?? 'another installation'}. ` +
        `Copy the media of ${from} into the storage of ${to} first.`,
    );
  if (fromInstallation === undefined && all.size > 1)
    throw new RefusedError(`Several installations had uploads in ${from}: ${found}. Name one with --installation.`);
  return found;
}

const describeAccount = (account: string | undefined): string =>
  account === undefined ? 'no account' : `account ${account}`;

/** Says why an Upload does not get the source of a record; undefined where it does. */
function findMismatch(record: UploadRecord, upload: Upload, options: AdoptOptions): string | undefined {
  const { installation, to } = options;
  const identity = buildIdentity(upload, installation);
  const { sent } = upload.spec.source;
  if (upload.metadata.deletionTimestamp) return 'the upload of this name is being deleted';
  if (identity.account !== record.account)
    return `it is of ${describeAccount(record.account)}, and the upload of this name of ${describeAccount(identity.account)}`;
  if (identity.track !== record.track)
    return `its track is ${record.track}, and that of the upload of this name ${identity.track}`;
  if (!isRecordOf({ ...record, installation, namespace: to }, identity))
    return 'the upload of this name has another link, or another kind of source';
  if (isArriving(upload.spec)) return 'the upload of this name is still being sent';
  if (sent && sent.sizeBytes !== record.media.sizeBytes)
    return `its source has ${record.media.sizeBytes} bytes, and the upload of this name ${sent.sizeBytes}`;
  return undefined;
}

/** Decides what happens to each record. Changes nothing. */
async function plan(kube: Pick<Kube, 'list'>, storage: Storage, source: string, known: Known[], options: AdoptOptions) {
  const { from, to, installation } = options;
  const uploads = new Map((await kube.list(UPLOADS, { namespace: to })).map((one) => [one.metadata.name, one]));
  const living = source === installation ? await kube.list(UPLOADS, { namespace: from }) : [];
  const inUse = new Set(living.map(({ metadata }) => metadata.uid));
  const served = new Set<string>();
  const judge = async (one: Known): Promise<Found> => {
    const { record } = one;
    const refuse = (note: string): Found => ({ ...one, fate: 'refused', note });
    if (inUse.has(record.uid)) return { ...one, fate: 'done', note: `an upload of ${from} has it` };
    const upload = uploads.get(record.name);
    if (!upload) return refuse(`${to} has no upload of this name`);
    const mismatch = findMismatch(record, upload, options);
    if (mismatch !== undefined) return refuse(mismatch);
    const { media, sourceKey } = dropForeignStatus(upload).status ?? {};
    if (media && sourceKey === record.sourceKey) return { ...one, fate: 'done', upload };
    if (media) return refuse('the upload of this name has media of its own');
    if (served.has(record.name)) return refuse('a later record of this name is adopted');
    const object = await storage.head(record.sourceKey);
    if (object?.sizeBytes !== record.media.sizeBytes)
      return refuse(`its source is ${object ? 'damaged' : 'not in the storage'}`);
    served.add(record.name);
    return { ...one, fate: 'adopted', upload };
  };
  const found: Found[] = [];
  for (const one of known) if (one.record.installation === source) found.push(await judge(one));
  return found;
}

/**
 * May be interrupted and run again: the records of before are deleted last. Rejects with RefusedError, StorageError and KubeError.
 */
export async function adopt(
  kube: Pick<Kube, 'list' | 'mergePatch'>,
  storage: Storage,
  options: AdoptOptions,
): Promise<Adopted> {
  const { to, installation, takeOver = false, dryRun = false, now, onProgress } = options;
  const known = await readRecords(storage, options.from);
  const source = findSource(known, options);
  const owner = await readOwner(storage);
  const other = [source, owner].find((uid) => uid !== undefined && uid !== installation);
  if (other !== undefined && !takeOver && !dryRun)
    throw new RefusedError(
      `The records or the storage are those of installation ${other}, and this is ${installation}. If the other one is alive, ` +
        'its sweep would delete what is written here: copy the media to a prefix of your own. If it is gone for good, add --take-over.',
    );
  const found = await plan(kube, storage, source, known, options);
  const counts: Adopted = { adopted: 0, done: 0, refused: 0 };
  for (const { record, fate, ...one } of found) {
    counts[fate]++;
    const note = 'note' in one ? `: ${one.note}` : '';
    onProgress(`${fate}  ${record.name}  ${record.sourceKey}${note}`);
    if (fate === 'adopted' && !dryRun) await writeRecord(storage, { ...record, installation, namespace: to });
  }
  if (dryRun) return counts;
  // An import fails with storage_taken until then, and finds nothing before its record is there.
  if (owner !== installation) await writeOwner(storage, installation);
  for (const one of found) {
    if (!('upload' in one)) continue;
    const { name, uid } = one.upload.metadata;
    // A running import fails in a moment. The annotation counts then.
    const annotations = { [RETRY_ANNOTATION]: `${kubeTime(now)} adopt-${one.key.uid}` };
    if (one.fate === 'adopted') await kube.mergePatch(UPLOADS, to, name, { metadata: { uid, annotations } });
    if (recordKey({ ...one.record, installation, namespace: to }) !== one.key.key) await storage.delete(one.key.key);
  }
  return counts;
}
