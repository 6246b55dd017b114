/** Overlays in a form: a preview, and the layers from the lowest to the highest. Those of a scene can only be looked at. */
import { Button, Checkbox } from '@mantine/core';
import { IconChevronDown, IconPhoto, IconTypography } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { MAX_LAYERS } from '../../../core/resources/upload/overlay-defaults.ts';
import type { Upload } from '../../../service/client/index.ts';
import { moveBy } from '../../lib/moveBy.ts';
import { LayerFields } from './layerFields.tsx';
import {
  findTextMistake,
  listPictures,
  NEW_TEXT,
  nameLayer,
  newPicture,
  type OverlayFacts,
  type OverlayLayer,
  type StreamOverlays,
} from './layers.ts';
import classes from './overlays.module.css';
import { OverlaysPreview } from './preview.tsx';

const HELP =
  'A logo, or the title of what plays, over the pictures. They are made in the background, and each item shows them from its next turn. They cost nothing on air.';

export interface OverlaysFieldProps {
  value: StreamOverlays;
  onChange: (overlays: StreamOverlays) => void;
  error: ReactNode;
  /** Of what the stream plays, behind the layers. */
  posterUrl: string | null;
  facts: OverlayFacts;
  uploads: readonly Upload[] | undefined;
}

interface MoreProps {
  /** Stands above the layers. */
  choice?: ReactNode;
  /** Layers of the scene that is chosen. */
  sceneLayers?: readonly OverlayLayer[];
  /** Stands below the layers, where there are some. */
  children?: ReactNode;
}

export function OverlaysField({ choice, sceneLayers = [], children, ...field }: OverlaysFieldProps & MoreProps) {
  const { value, onChange, error, ...scene } = field;
  const layers = value.sceneID ? sceneLayers : value.layers;
  // The mistake of a text stands at its field.
  const besides = value.layers.some((layer) => findTextMistake(layer) !== undefined) ? undefined : error;
  return (
    <fieldset className={classes.overlays} aria-describedby={besides ? 'overlays-error' : undefined}>
      <legend>Overlays</legend>
      <p className={classes.help}>{HELP}</p>
      {choice}
      {layers.length > 0 && <OverlaysPreview layers={layers} {...scene} />}
      {!value.sceneID && <LayersEditor value={value} onChange={onChange} error={error} uploads={scene.uploads} />}
      {!value.sceneID && layers.length > 0 && (
        <>
          <Checkbox
            label="Play an item only when its overlays are ready"
            checked={value.required}
            onChange={(event) => onChange({ ...value, required: event.currentTarget.checked })}
          />
          {children}
        </>
      )}
      {besides && (
        <p id="overlays-error" className={classes.error} role="alert">
          {besides}
        </p>
      )}
    </fieldset>
  );
}

type EditorProps = Pick<OverlaysFieldProps, 'value' | 'onChange' | 'error' | 'uploads'>;

function LayersEditor({ value, onChange, error, uploads }: EditorProps) {
  const { layers } = value;
  const [opened, setOpened] = useState<number>();
  const set = (next: OverlayLayer[]) => onChange({ ...value, layers: next, sceneID: null });
  const add = (layer: OverlayLayer) => {
    set([...layers, layer]);
    setOpened(layers.length);
  };
  const move = (index: number, by: 1 | -1) => {
    set(moveBy(layers, index, by));
    setOpened(undefined);
  };
  const remove = (index: number) => {
    set(layers.filter((_, at) => at !== index));
    setOpened(undefined);
  };
  const [picture] = listPictures(uploads);
  const wrong = layers.findIndex((layer) => findTextMistake(layer) !== undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a layer with a mistake is opened when the form is refused.
  useEffect(() => {
    if (error && wrong >= 0) setOpened(wrong);
  }, [error]);
  const isFull = layers.length >= MAX_LAYERS;
  return (
    <>
      <ol className={classes.layers}>
        {layers.map((layer, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a layer is known by its place.
          <li key={index}>
            <button
              type="button"
              className={classes.head}
              aria-expanded={opened === index}
              onClick={() => setOpened(opened === index ? undefined : index)}
            >
              {nameLayer(layer, uploads)}
              <IconChevronDown size={16} aria-hidden />
            </button>
            {opened === index && (
              <>
                <LayerFields
                  layer={layer}
                  isTried={Boolean(error)}
                  uploads={uploads}
                  change={(more) => set(layers.map((one, at) => (at === index ? { ...one, ...more } : one)))}
                />
                <div className={classes.acts}>
                  <Button variant="default" size="xs" disabled={index === 0} onClick={() => move(index, -1)}>
                    Behind
                  </Button>
                  <Button
                    variant="default"
                    size="xs"
                    disabled={index === layers.length - 1}
                    onClick={() => move(index, 1)}
                  >
                    In front
                  </Button>
                  <Button variant="default" size="xs" onClick={() => remove(index)}>
                    Remove layer
                  </Button>
                </div>
              </>
            )}
          </li>
        ))}
      </ol>
      <div className={classes.acts}>
        <Button
          variant="default"
          leftSection={<IconTypography size={16} aria-hidden />}
          disabled={isFull}
          onClick={() => add(NEW_TEXT)}
        >
          Add text
        </Button>
        <Button
          variant="default"
          leftSection={<IconPhoto size={16} aria-hidden />}
          disabled={isFull || !picture}
          onClick={() => picture && add(newPicture(picture.objectID))}
        >
          Add picture
        </Button>
      </div>
      {!picture && uploads && (
        <p className={classes.help}>For a logo, add a picture to your uploads first, such as a PNG.</p>
      )}
    </>
  );
}
