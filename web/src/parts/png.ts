// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// A part of the page as a picture file. The page may load no image but its own files, so what is on the
// screen is painted again: boxes, texts, shapes and canvases, each where it stands.
const SCALE = 2; // sharp on any screen
const CLEAR = 'rgba(0, 0, 0, 0)';

interface Painter {
  to: CanvasRenderingContext2D;
  left: number;
  top: number;
}

const isSeen = (style: CSSStyleDeclaration): boolean => style.visibility === 'visible' && style.display !== 'none' && style.clipPath === 'none';

// Areas that are hatched on the screen are hatched here too, in one way.
function hatch(painter: Painter, box: DOMRect, colour: string): void {
  const { to } = painter, { width, height } = box;
  const x = box.left - painter.left, y = box.top - painter.top;
  to.save();
  clipTo(painter, box);
  to.strokeStyle = colour;
  to.beginPath();
  for (let at = -height; at < width; at += 5) {
    to.moveTo(x + at, y + height);
    to.lineTo(x + at + height, y);
  }
  to.stroke();
  to.restore();
}

function paintBox(painter: Painter, element: Element, style: CSSStyleDeclaration): void {
  const { to, left, top } = painter;
  const box = element.getBoundingClientRect();
  const x = box.left - left, y = box.top - top;
  if (style.backgroundColor !== CLEAR) {
    to.fillStyle = style.backgroundColor;
    to.fillRect(x, y, box.width, box.height);
  }
  if (style.backgroundImage !== 'none') hatch(painter, box, style.color);
  const line = parseFloat(style.borderTopWidth);
  if (line > 0 && style.borderTopStyle !== 'none') {
    to.strokeStyle = style.borderTopColor;
    to.lineWidth = line;
    to.setLineDash(style.borderTopStyle === 'dashed' ? [4, 3] : []);
    if (parseFloat(style.borderLeftWidth) > 0) to.strokeRect(x + line / 2, y + line / 2, box.width - line, box.height - line);
    else to.strokeRect(x, y + line / 2, box.width, 0);
    to.setLineDash([]);
    to.lineWidth = 1;
  }
}

// Word by word: a text may stand on several lines.
function paintText({ to, left, top }: Painter, node: Text, style: CSSStyleDeclaration): void {
  const range = document.createRange();
  to.fillStyle = style.color;
  to.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  to.textBaseline = 'middle';
  for (const word of node.data.matchAll(/\S+/g)) {
    range.setStart(node, word.index);
    range.setEnd(node, word.index + word[0].length);
    const box = range.getBoundingClientRect();
    to.fillText(word[0], box.left - left, (box.top + box.bottom) / 2 - top);
  }
}

function paintShape({ to, left, top }: Painter, shape: SVGGraphicsElement, style: CSSStyleDeclaration): void {
  const toScreen = shape.getScreenCTM();
  if (!toScreen) return;
  to.save();
  to.transform(toScreen.a, toScreen.b, toScreen.c, toScreen.d, toScreen.e - left, toScreen.f - top);
  to.globalAlpha = Number(style.opacity);
  to.fillStyle = style.fill;
  if (shape instanceof SVGPathElement) to.fill(new Path2D(shape.getAttribute('d') ?? ''));
  if (shape instanceof SVGRectElement) to.fillRect(shape.x.baseVal.value, shape.y.baseVal.value, shape.width.baseVal.value, shape.height.baseVal.value);
  to.restore();
}

function clipTo({ to, left, top }: Painter, box: DOMRect): void {
  to.beginPath();
  to.rect(box.left - left, box.top - top, box.width, box.height);
  to.clip();
}

function paint(painter: Painter, element: Element): void {
  const style = getComputedStyle(element);
  if (!isSeen(style)) return;
  if (element instanceof SVGGraphicsElement && !(element instanceof SVGSVGElement)) paintShape(painter, element, style);
  else paintBox(painter, element, style);
  if (element instanceof HTMLCanvasElement && element.width > 0) {
    const box = element.getBoundingClientRect();
    painter.to.imageSmoothingEnabled = false;
    painter.to.drawImage(element, box.left - painter.left, box.top - painter.top, box.width, box.height);
  }
  painter.to.save();
  if (style.overflow !== 'visible') clipTo(painter, element.getBoundingClientRect());
  for (const child of element.childNodes) {
    if (child instanceof Text) paintText(painter, child, style);
    else if (child instanceof Element && !child.matches('title, script')) paint(painter, child);
  }
  painter.to.restore();
}

export function pngOf(element: Element): Promise<Blob | null> {
  const box = element.getBoundingClientRect();
  const canvas = document.createElement('canvas');
  canvas.width = Math.ceil(box.width * SCALE);
  canvas.height = Math.ceil(box.height * SCALE);
  const to = canvas.getContext('2d')!;
  to.scale(SCALE, SCALE);
  to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--page').trim();
  to.fillRect(0, 0, box.width, box.height);
  paint({ to, left: box.left, top: box.top }, element);
  return new Promise((done) => canvas.toBlob(done, 'image/png'));
}
