/** Shows the layers over a picture of the media, about where viewers see them. */
import type { Upload } from '../../../service/client/index.ts';
import { Poster } from '../../ui/poster.tsx';
import { fillText, type OverlayFacts, type OverlayLayer } from './layers.ts';
import classes from './overlays.module.css';
import { placeLayer, sizePicture, styleText } from './placement.ts';

interface PreviewProps {
  layers: readonly OverlayLayer[];
  posterUrl: string | null;
  facts: OverlayFacts;
  uploads: readonly Upload[] | undefined;
}

function PictureLayer({ layer, upload }: { layer: OverlayLayer; upload: Upload | undefined }) {
  const { width, height } = upload?.video ?? { width: 1, height: 1 };
  const style = { ...placeLayer(layer), ...sizePicture(layer), aspectRatio: `${width} / ${height}` };
  return (
    <span className={classes.picture} style={style}>
      <Poster url={upload?.posterUrl} kind="VIDEO" size="full" />
    </span>
  );
}

function TextLayer({ layer, facts }: { layer: OverlayLayer; facts: OverlayFacts }) {
  const text = fillText(layer.text ?? '', facts);
  if (text === '') return null;
  return (
    <span className={classes.text} style={placeLayer(layer)}>
      <span style={styleText(layer)} dir="auto">
        {text}
      </span>
    </span>
  );
}

export function OverlaysPreview({ layers, posterUrl, facts, uploads }: PreviewProps) {
  return (
    <figure className={classes.preview}>
      <div className={classes.frame} data-testid="overlays-preview" aria-hidden>
        {posterUrl && <Poster url={posterUrl} kind="VIDEO" size="full" />}
        {layers.map((layer, index) =>
          layer.imageUploadObjectID === null ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a layer is known by its place.
            <TextLayer key={index} layer={layer} facts={facts} />
          ) : (
            <PictureLayer
              // biome-ignore lint/suspicious/noArrayIndexKey: a layer is known by its place.
              key={index}
              layer={layer}
              upload={uploads?.find(({ objectID }) => objectID === layer.imageUploadObjectID)}
            />
          ),
        )}
      </div>
      <figcaption>Preview. Fonts and places differ a little on air.</figcaption>
    </figure>
  );
}
