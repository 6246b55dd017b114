/** A scene made or changed. Only changed fields are sent, for the version that the form shows. */
import { TextInput } from '@mantine/core';
import { problems, type Scene, type SceneUpdate } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useDraftForm } from '../../lib/drafts/useDraftForm.ts';
import { ChangedElsewhere } from '../../ui/changedElsewhere.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import forms from '../../ui/form.module.css';
import { FormEnd } from '../../ui/formEnd.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { OverlaysField } from '../overlays/field.tsx';
import { NO_OVERLAYS } from '../overlays/layers.ts';
import { useStorageSentence } from '../overlays/useStorageSentence.ts';
import { useUploadChoices } from '../overlays/useUploadChoices.ts';
import { useScenesChanged } from './queries.ts';
import { describeUse, findSceneChanges, findSceneMistake, SAMPLE_FACTS, type SceneValues } from './text.ts';

const LABELS = { name: 'Name', overlays: 'Overlays' };

interface SceneFormProps {
  /** The one to change; a new one is made without. */
  before?: Scene;
  onClose: () => void;
  onDone: () => unknown;
}

export function SceneForm({ before, onClose, onDone }: SceneFormProps) {
  const { scenes } = useApi().calls;
  const { changed } = useScenesChanged();
  const { data: uploads } = useUploadChoices();
  const { form, forgetBefore, elsewhere } = useDraftForm<SceneValues>({
    name: `scene ${before?.id ?? ''}`,
    initialValues: {
      name: before?.name ?? '',
      overlays: before ? { layers: before.layers, sceneID: null, required: before.required } : NO_OVERLAYS,
    },
    validate: { name: (name) => (name.trim() === '' ? 'Enter a name.' : null), overlays: findSceneMistake },
  });
  const changes = before ? findSceneChanges(before, form.values) : {};
  const update = (body: Omit<SceneUpdate, 'version'>, options: { dryRun?: boolean; signal?: AbortSignal } = {}) =>
    scenes.update(before?.id ?? '', { ...body, version: before?.version ?? 1 }, options);
  const { submit, busy, problem } = useSubmit<SceneValues, unknown>({
    send: async (values, idempotencyKey) => {
      const { name, overlays } = values;
      const { layers, required } = overlays;
      if (!before) return scenes.create({ name: name.trim(), layers, required }, { idempotencyKey });
      try {
        return await update(findSceneChanges(before, values));
      } catch (error) {
        // The form takes up what others have changed, and is sent for their version then.
        if (error instanceof problems.SceneVersionConflict) await changed();
        throw error;
      }
    },
    fields: ['name'],
    onMistakes: form.setErrors,
    onDone: forgetBefore(onDone),
  });
  const cancel = forgetBefore(onClose);
  const storage = useStorageSentence(['scenes', before?.id ?? 'new'], changes, (given, signal) =>
    update(given, { dryRun: true, signal }),
  );
  const isChanged = before && Object.keys(changes).length > 0;
  const effects = [...(isChanged ? describeUse(before.streamIDs.length) : []), ...(storage ? [storage] : [])];
  const save = (values: SceneValues): void => {
    if (before && !isChanged) cancel();
    else submit(values);
  };
  return (
    <Dialog title={before ? 'Edit scene' : 'New scene'} onClose={cancel} busy={busy} wide>
      <form className={forms.form} onSubmit={form.onSubmit(save)} noValidate>
        <TextInput label="Name" autoComplete="off" data-autofocus {...form.getInputProps('name')} />
        <OverlaysField
          value={form.values.overlays}
          onChange={(overlays) => form.setFieldValue('overlays', overlays)}
          error={form.errors.overlays}
          posterUrl={null}
          facts={SAMPLE_FACTS}
          uploads={uploads}
        />
        <ChangedElsewhere fields={elsewhere} labels={LABELS} />
        <FormEnd problem={problem} busy={busy} onCancel={cancel} effects={effects}>
          {before ? 'Save' : 'Create scene'}
        </FormEnd>
      </form>
    </Dialog>
  );
}
