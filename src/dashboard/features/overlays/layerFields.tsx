/** The fields of one layer: what it shows, where, how large, and when. */
import { Checkbox, NativeSelect, NumberInput, Textarea, TextInput } from '@mantine/core';
import { useId, useRef } from 'react';
import type { Upload } from '../../../service/client/index.ts';
import {
  type Anchor,
  findShowKind,
  findTextMistake,
  insertField,
  listPictures,
  type OverlayLayer,
  PLACES,
  SHOWS,
  type ShowKind,
  startShow,
  TEXT_FIELDS,
} from './layers.ts';
import classes from './overlays.module.css';

interface LayerProps {
  layer: OverlayLayer;
  /** Mistakes are shown once somebody has tried to send the form. */
  isTried: boolean;
  change: (more: Partial<OverlayLayer>) => void;
}

function TextField({ layer, isTried, change }: LayerProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const text = layer.text ?? '';
  const insert = (field: (typeof TEXT_FIELDS)[number]['field']) => {
    const { selectionStart, selectionEnd } = area.current ?? {};
    change({ text: insertField(text, field, selectionStart, selectionEnd) });
    area.current?.focus();
  };
  return (
    <div>
      <Textarea
        ref={area}
        label="Text"
        rows={2}
        value={text}
        error={isTried && findTextMistake(layer)}
        onChange={(event) => change({ text: event.currentTarget.value })}
      />
      <fieldset className={classes.insert}>
        <legend>Insert</legend>
        {TEXT_FIELDS.map(({ field, label }) => (
          <button key={field} type="button" onClick={() => insert(field)}>
            {label}
          </button>
        ))}
      </fieldset>
    </div>
  );
}

const FONTS = [
  { value: 'Sans', label: 'Sans serif' },
  { value: 'Serif', label: 'Serif' },
  { value: 'Mono', label: 'Monospaced' },
] as const;

interface ColorProps {
  label: string;
  value: string | null;
  /** The colour that it begins with. */
  first: string;
  onChange: (color: string | null) => void;
}

/** A browser's field of a colour knows no transparency, which stays as it is. */
function ColorField({ label, value, first, onChange }: ColorProps) {
  return (
    <div className={classes.color}>
      <Checkbox
        label={label}
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? first : null)}
      />
      {value !== null && (
        <input
          type="color"
          aria-label={`Colour: ${label}`}
          value={value.slice(0, 7).toLowerCase()}
          onChange={(event) => onChange(event.currentTarget.value.toUpperCase() + value.slice(7))}
        />
      )}
    </div>
  );
}

const TextStyle = ({ layer, change }: LayerProps) => (
  <div className={classes.styles}>
    <NativeSelect
      label="Font"
      data={[...FONTS]}
      value={layer.font ?? 'Sans'}
      onChange={(event) => change({ font: event.currentTarget.value as OverlayLayer['font'] })}
    />
    <TextInput
      type="color"
      label="Colour"
      classNames={{ input: classes.swatch ?? '' }}
      value={(layer.color ?? '#FFFFFF').toLowerCase()}
      onChange={(event) => change({ color: event.currentTarget.value.toUpperCase() })}
    />
    <Checkbox
      label="Bold"
      checked={layer.bold ?? false}
      onChange={(event) => change({ bold: event.currentTarget.checked })}
    />
    <ColorField
      label="Outline"
      value={layer.outlineColor}
      first="#000000"
      onChange={(outlineColor) => change({ outlineColor })}
    />
    <ColorField label="Box" value={layer.boxColor} first="#00000099" onChange={(boxColor) => change({ boxColor })} />
  </div>
);

function PlaceField({ layer, change }: LayerProps) {
  const name = useId();
  return (
    <fieldset className={classes.places}>
      <legend>Place</legend>
      <div>
        {PLACES.map(({ value, label }) => (
          <label key={value} title={label}>
            <input
              type="radio"
              name={name}
              aria-label={label}
              checked={layer.anchor === value}
              onChange={() => change({ anchor: value satisfies Anchor })}
            />
          </label>
        ))}
      </div>
    </fieldset>
  );
}

interface WholeProps {
  label: string;
  value: number | null;
  min: number;
  max: number;
  suffix: string;
  onChange: (value: number) => void;
}

/** A field that is emptied keeps its last number. */
const Whole = ({ label, value, min, max, suffix, onChange }: WholeProps) => (
  <NumberInput
    label={label}
    value={value ?? min}
    min={min}
    max={max}
    suffix={suffix}
    allowDecimal={false}
    allowNegative={false}
    clampBehavior="strict"
    onChange={(next) => {
      if (typeof next === 'number' && next >= min && next <= max) onChange(next);
    }}
  />
);

const DAY_SECONDS = 86_400;

function ShowFields({ layer, change }: LayerProps) {
  const { show } = layer;
  const seconds = (field: keyof NonNullable<OverlayLayer['show']>, label: string) =>
    typeof show?.[field] === 'number' && (
      <Whole
        label={label}
        value={show[field]}
        min={1}
        max={DAY_SECONDS}
        suffix=" s"
        onChange={(value) => change({ show: { ...show, [field]: value } })}
      />
    );
  return (
    <div className={classes.styles}>
      <NativeSelect
        label="Shown"
        data={[...SHOWS]}
        value={findShowKind(show)}
        onChange={(event) => change({ show: startShow(event.currentTarget.value as ShowKind) })}
      />
      {seconds('firstSeconds', 'For the first')}
      {seconds('lastSeconds', 'For the last')}
      {seconds('everySeconds', 'Every')}
      {seconds('forSeconds', 'For')}
    </div>
  );
}

export function LayerFields({ uploads, ...props }: LayerProps & { uploads: readonly Upload[] | undefined }) {
  const { layer, change } = props;
  const isText = layer.imageUploadObjectID === null;
  const pictures = listPictures(uploads, layer.imageUploadObjectID);
  return (
    <div className={classes.fields}>
      {isText ? (
        <TextField {...props} />
      ) : (
        <NativeSelect
          label="Picture"
          data={pictures.map(({ objectID, name }) => ({ value: objectID, label: name }))}
          value={layer.imageUploadObjectID ?? ''}
          onChange={(event) => change({ imageUploadObjectID: event.currentTarget.value })}
        />
      )}
      <div className={classes.placing}>
        <PlaceField {...props} />
        <div className={classes.numbers}>
          <Whole
            label="Size"
            value={layer.sizePercent}
            min={1}
            max={100}
            suffix=" %"
            onChange={(sizePercent) => change({ sizePercent })}
          />
          <Whole
            label="Margin"
            value={layer.marginPercent}
            min={0}
            max={45}
            suffix=" %"
            onChange={(marginPercent) => change({ marginPercent })}
          />
          <Whole
            label="Opacity"
            value={layer.opacityPercent}
            min={1}
            max={100}
            suffix=" %"
            onChange={(opacityPercent) => change({ opacityPercent })}
          />
        </div>
      </div>
      {isText && <TextStyle {...props} />}
      <ShowFields {...props} />
    </div>
  );
}
