const QUOTE = /(?<![\w$\u0080-\uffff])[eE]'|'|"|(?<![\w$\u0080-\uffff])\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|--|\/\*/g;
export function* partsOf(text) {
    let from = 0;
    for (;;) {
        QUOTE.lastIndex = from;
        const opening = QUOTE.exec(text);
        yield { text: text.slice(from, opening?.index), opening: null };
        if (!opening)
            return;
        from = endOf(opening[0], text, QUOTE.lastIndex);
        yield { text: text.slice(opening.index, from), opening: opening[0] };
    }
}
function endOf(opening, text, from) {
    switch (opening) {
        case '/*':
            return endOfComment(text, from);
        case '--':
            return after(/[^\n\r]*[\n\r]/y, text, from);
        case '"':
            return after(/[^"]*(?:""[^"]*)*"/y, text, from);
        case "'":
            return after(/[^']*(?:''[^']*)*'/y, text, from);
        case "e'":
        case "E'":
            return after(/[^'\\]*(?:(?:''|\\[\s\S])[^'\\]*)*'/y, text, from);
        default: {
            const closing = text.indexOf(opening, from);
            return closing < 0 ? text.length : closing + opening.length;
        }
    }
}
function endOfComment(text, from) {
    const mark = /\/\*|\*\//g;
    mark.lastIndex = from;
    for (let depth = 1; depth > 0;) {
        const found = mark.exec(text);
        if (!found)
            return text.length;
        depth += found[0] === '/*' ? 1 : -1;
    }
    return mark.lastIndex;
}
function after(closing, text, from) {
    closing.lastIndex = from;
    return closing.test(text) ? closing.lastIndex : text.length;
}
