#pragma once

namespace weft::render {

// A card about the part of a map that is pointed at or tapped: the words of its <title>, which
// browsers show late and phones never. It stays inside the window, on a phone at its lower edge.
inline constexpr const char* kCardStyle =
    R"(.card{position:fixed;z-index:1;max-width:34em;padding:8px 12px;white-space:pre-line;
pointer-events:none;background:var(--weft-box);border:1px solid var(--weft-line);border-radius:6px;
box-shadow:0 2px 10px #0003;font-size:12.5px}.card[hidden]{display:none}
@media(max-width:600px){.card{left:8px!important;right:8px;top:auto!important;bottom:8px}}
)";

// Needs `main`, the page's element of that name, as a variable.
inline constexpr const char* kCardScript = R"(
var card=document.createElement('div');
card.className='card';card.hidden=true;document.body.append(card);
function words(part){
  var title=part.querySelector(':scope>title');
  if(title){part.dataset.words=title.textContent;title.remove();}
  return part.dataset.words||'';
}
main.addEventListener('pointerover',function(event){
  var part=event.target.closest('.map g:not([data-job])');
  card.hidden=!part||!words(part);
  if(card.hidden)return;
  card.textContent=part.dataset.words;
  var box=card.getBoundingClientRect();
  var x=Math.min(event.clientX+14,innerWidth-box.width-20);
  var y=event.clientY+14;
  if(y+box.height>innerHeight-8)y=Math.max(8,event.clientY-14-box.height);
  card.style.left=Math.max(8,x)+'px';card.style.top=y+'px';
});
document.addEventListener('pointerleave',function(){card.hidden=true;});
)";

}  // namespace weft::render
