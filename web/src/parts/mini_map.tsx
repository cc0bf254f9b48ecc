// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// The cores of a chip, one pixel each, scaled up by the browser: 32 chips cost next to nothing.
import { useSignalEffect } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { levelsOf } from '../live/live.ts';
import { dark } from '../theme.ts';
import { heat, levelOf } from './heat.ts';

export function MiniMap({ id }: { id: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useSignalEffect(() => {
    const cores = levelsOf(id), isDark = dark.value, element = canvas.current;
    const context = element?.getContext('2d');
    if (!element || !context || !cores || cores.columns === 0 || cores.rows === 0) return;
    if (element.width !== cores.columns || element.height !== cores.rows) {
      element.width = cores.columns;
      element.height = cores.rows;
      element.style.aspectRatio = `${cores.columns} / ${cores.rows}`;
    }
    const image = context.createImageData(cores.columns, cores.rows);
    [...cores.levels].forEach((character, i) => {
      const level = levelOf(character);
      image.data.set(level === null ? [0, 0, 0, 0] : [...heat(level, isDark), 255], 4 * i);
    });
    context.putImageData(image, 0, 0);
  });
  return <canvas ref={canvas} class="mini-map" width={8} height={8} aria-hidden="true" />;
}
