/** The overlays of a stream in its form: layers of its own, or those of a scene that several streams show. */
import { Button, NativeSelect, Skeleton, TextInput } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';
import type { Scene } from '../../../service/client/index.ts';
import { useApi } from '../../api/context.tsx';
import { useSubmit } from '../../ui/useSubmit.ts';
import { OverlaysField, type OverlaysFieldProps } from '../overlays/field.tsx';
import { findLayersMistake, NO_OVERLAYS, type StreamOverlays } from '../overlays/layers.ts';
import classes from '../overlays/overlays.module.css';
import { useSceneChoices, useScenesChanged } from './queries.ts';

const HELP = 'Layers that several streams share. A change of the scene changes all of them.';
const OWN = { value: '', label: 'None: layers of this stream' };

export function StreamOverlaysField(field: OverlaysFieldProps) {
  const { value, onChange } = field;
  const { sceneID } = value;
  const { data: scenes, isPending } = useSceneChoices();
  // A person who looks at a scene gets their own layers back.
  const [own, setOwn] = useState(NO_OVERLAYS);
  const choose = (id: string) => {
    if (!sceneID) setOwn(value);
    onChange(id === '' ? own : { layers: [], sceneID: id, required: false });
  };
  // The form does not move once it is there.
  if (isPending) return <Skeleton height={88} />;
  const listed = (scenes ?? []).map(({ id, name }) => ({ value: id, label: name }));
  const isUnlisted = sceneID && !listed.some((one) => one.value === sceneID);
  const choices = [OWN, ...listed, ...(isUnlisted ? [{ value: sceneID, label: sceneID }] : [])];
  const chosen = scenes?.find(({ id }) => id === sceneID);
  const choice = choices.length > 1 && (
    <>
      <NativeSelect
        label="Scene"
        description={HELP}
        data={choices}
        value={sceneID ?? ''}
        onChange={({ currentTarget }) => choose(currentTarget.value)}
      />
      {chosen && (
        <p className={classes.help}>
          <Link to="/scenes" search={{ form: `edit ${chosen.id}` }}>
            Edit this scene
          </Link>
        </p>
      )}
    </>
  );
  return (
    <OverlaysField {...field} choice={choice} {...(chosen && { sceneLayers: chosen.layers })}>
      <SaveAsScene overlays={value} onSaved={({ id }) => choose(id)} />
    </OverlaysField>
  );
}

/** No form of its own, since it stands in that of the stream. */
function SaveAsScene({ overlays, onSaved }: { overlays: StreamOverlays; onSaved: (scene: Scene) => void }) {
  const { scenes } = useApi().calls;
  const { added } = useScenesChanged();
  const [name, setName] = useState<string>();
  const [mistake, setMistake] = useState<string | null>();
  const { submit, busy, problem } = useSubmit({
    send: ({ layers, required }: StreamOverlays, idempotencyKey) =>
      scenes.create({ name: name?.trim() ?? '', layers, required }, { idempotencyKey }),
    made: (values) => [name, values],
    fields: ['name'],
    onMistakes: (mistakes) => setMistake(mistakes.name ?? null),
    onDone: (scene) => {
      void added(scene);
      onSaved(scene);
    },
  });
  if (name === undefined)
    return (
      <div className={classes.acts}>
        <Button variant="default" size="xs" onClick={() => setName('')}>
          Save these layers as a scene
        </Button>
      </div>
    );
  const save = () => {
    const found = name.trim() === '' ? 'Enter a name.' : findLayersMistake(overlays);
    setMistake(found);
    if (found === null) submit(overlays);
  };
  const saveOnEnter = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    save();
  };
  return (
    <>
      <TextInput
        label="Name of the scene"
        description="This stream shows the scene then, and others can choose it."
        autoComplete="off"
        autoFocus
        value={name}
        error={mistake}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
        onKeyDown={saveOnEnter}
      />
      {problem && (
        <p className={classes.error} role="alert">
          {problem}
        </p>
      )}
      <div className={classes.acts}>
        <Button size="xs" loading={busy} onClick={save}>
          Save scene
        </Button>
        <Button variant="default" size="xs" disabled={busy} onClick={() => setName(undefined)}>
          Cancel
        </Button>
      </div>
    </>
  );
}
