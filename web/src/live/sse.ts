// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The ttmem authors
//
// Server-Sent Events out of pieces of text, wherever these were cut. EventSource would do, but it
// cannot send a token.
export interface Message {
  event: string;
  data: string;
  id: string | null;
}

export class MessageReader {
  private rest = '';
  private fields: Partial<Message> = {};

  push(piece: string): Message[] {
    const lines = (this.rest + piece).split('\n');
    this.rest = lines.pop() ?? '';
    const messages: Message[] = [];
    for (const line of lines) {
      const message = this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
      if (message) messages.push(message);
    }
    return messages;
  }

  private line(line: string): Message | null {
    if (line === '') {
      const { event = 'message', data, id = null } = this.fields;
      this.fields = {};
      return data === undefined ? null : { event, data, id };
    }
    const colon = line.indexOf(':');
    if (colon === 0) return null; // a comment
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') this.fields.data = this.fields.data === undefined ? value : `${this.fields.data}\n${value}`;
    else if (name === 'event' || name === 'id') this.fields[name] = value;
    return null;
  }
}
